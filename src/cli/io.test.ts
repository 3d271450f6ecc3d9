import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { processIo } from './io.ts'

const entry = path.join(import.meta.dirname, 'entry.ts')

function listCodes(env: NodeJS.ProcessEnv): readonly string[] {
  const options = { env: { ...process.env, ...env }, encoding: 'utf8', maxBuffer: 1 << 24 } as const
  return execFileSync(process.execPath, ['--import', 'tsx', entry, 'explain'], options).split('\n')
}

describe('a table in a pipe', { timeout: 120_000 }, () => {
  it('is never cut without COLUMNS', () => {
    expect(listCodes({ COLUMNS: '' }).filter((line) => line.includes('…'))).toEqual([])
  })

  it('is as wide as COLUMNS', () => {
    expect(Math.max(...listCodes({ COLUMNS: '40' }).map((line) => line.length))).toBe(40)
  })
})

describe('the signal of a safe stop', () => {
  it('may be listened to by many without a warning', async () => {
    const warnings: string[] = []
    const collect = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', collect)
    const { stop } = processIo()
    for (let n = 0; n < 20; n += 1) stop.addEventListener('abort', () => undefined)
    await setImmediate()
    process.off('warning', collect)
    expect(warnings).toEqual([])
  })
})
