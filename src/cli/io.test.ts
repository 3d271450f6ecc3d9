import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

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
