import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { acquireLock, tryAcquireLock } from './process-lock.ts'

describe('a lock between processes', () => {
  it('has one holder and is free after its release', async () => {
    const name = randomUUID()
    const first = await tryAcquireLock(name)
    expect(first).toBeDefined()
    expect(await tryAcquireLock(name)).toBeUndefined()
    await first?.release()
    expect(await tryAcquireLock(name)).toBeDefined()
  })

  it('has as many holders as names', async () => {
    const names = [randomUUID(), randomUUID()]
    const first = await acquireLock(names)
    await acquireLock(names)
    let waited = 0
    const third = acquireLock(names, { pollMs: 5, onWait: () => (waited += 1) })
    await expect.poll(() => waited).toBe(1)
    await first.release()
    await third
    expect(waited).toBe(1)
  })

  it('is released when its holder is killed with SIGKILL', async () => {
    const name = randomUUID()
    const tsx = createRequire(import.meta.url).resolve('tsx')
    const file = path.join(import.meta.dirname, 'process-lock.ts')
    const script = `import { tryAcquireLock } from ${JSON.stringify(file)}; await tryAcquireLock(${JSON.stringify(name)}); console.log('held'); setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--import', `file://${tsx}`, '--input-type=module', '-e', script])
    await once(child.stdout, 'data')
    expect(await tryAcquireLock(name)).toBeUndefined()
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await tryAcquireLock(name)).toBeDefined()
  })

  it('stops waiting when the signal is aborted', async () => {
    const name = randomUUID()
    await tryAcquireLock(name)
    const stop = new AbortController()
    const waiting = acquireLock([name], { signal: stop.signal })
    stop.abort()
    await expect(waiting).rejects.toThrow()
  })
})
