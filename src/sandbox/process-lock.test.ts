import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { acquireLock, tryAcquireLock } from './process-lock.ts'

describe('a lock between processes', () => {
  it('is held by one, and free again after it', async () => {
    const name = randomUUID()
    const first = await tryAcquireLock(name)
    expect(first).toBeDefined()
    expect(await tryAcquireLock(name)).toBeUndefined()
    await first?.release()
    expect(await tryAcquireLock(name)).toBeDefined()
  })

  it('lets as many in as there are names', async () => {
    const names = [randomUUID(), randomUUID()]
    const one = await acquireLock(names)
    await acquireLock(names)
    let waited = 0
    const third = acquireLock(names, { pollMs: 5, onWait: () => (waited += 1) })
    await expect.poll(() => waited).toBe(1)
    await one.release()
    await third
    expect(waited).toBe(1)
  })

  it('ends with its holder, also by kill -9', async () => {
    const name = randomUUID()
    const tsx = createRequire(import.meta.url).resolve('tsx')
    const file = path.join(import.meta.dirname, 'lock.ts')
    const script = `import { tryLock } from ${JSON.stringify(file)}; await tryLock(${JSON.stringify(name)}); console.log('held'); setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--import', `file://${tsx}`, '--input-type=module', '-e', script])
    await once(child.stdout, 'data')
    expect(await tryAcquireLock(name)).toBeUndefined()
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await tryAcquireLock(name)).toBeDefined()
  })

  it('is given up when the wait is cancelled', async () => {
    const name = randomUUID()
    await tryAcquireLock(name)
    const stop = new AbortController()
    const waiting = acquireLock([name], { signal: stop.signal })
    stop.abort()
    await expect(waiting).rejects.toThrow()
  })
})
