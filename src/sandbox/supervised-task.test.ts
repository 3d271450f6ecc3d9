import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { holdPort } from './ports.ts'
import { superviseTask } from './supervised-task.ts'
import type { ReadinessProbe, Task } from './supervisor-spec.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-task-'))
})
afterAll(() => rm(folder, { recursive: true }))

const shell = (script: string, probe: ReadinessProbe = { kind: 'none' }): Task => ({
  name: 'x',
  file: '/bin/sh',
  args: ['-c', script],
  probe,
  after: [],
  readyMs: 2000,
})
const quick = (said: string[] = []) => ({
  pki: folder,
  wrapper: [],
  graceMs: 200,
  log: path.join(folder, 'x.log'),
  logEvent: (text: string) => void said.push(text),
  probeEveryMs: 5,
  restartAfterMs: 5,
})

describe('a supervised task', () => {
  it('is restarted when it exits, and appends to its log', async () => {
    const said: string[] = []
    const task = superviseTask(shell('echo run; sleep 0.05'), quick(said))
    await task.start()
    await expect.poll(() => task.status().restarts).toBeGreaterThan(1)
    expect(said[0]).toBe('x exited with code 0; restarting it')
    await task.stop()
    expect(task.status().state).toBe('down')
    expect((await readFile(path.join(folder, 'x.log'), 'utf8')).split('\n').length).toBeGreaterThan(2)
  })

  it('stays down after kill until it is started', async () => {
    const task = superviseTask(shell('sleep 60'), quick())
    await task.start()
    const { pid } = task.status()
    await task.kill()
    expect(task.status()).toEqual({ name: 'x', state: 'down', restarts: 0 })
    await task.start()
    expect(task.status().state).toBe('ready')
    expect(task.status().pid).not.toBe(pid)
    await task.stop()
  })

  it('reports the exit status when it exits before it is ready', async () => {
    const { port, close } = await holdPort(0, '127.0.0.1')
    await close()
    const task = superviseTask(shell('exit 3', { kind: 'tcp', port }), quick())
    await expect(task.start()).rejects.toThrow('exited with code 3')
  })

  it('is not ready because another process listens on its port', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const slow = { ...quick(), probeEveryMs: 300 }
    const task = superviseTask(shell('exit 1', { kind: 'tcp', port }), slow)
    await expect(task.start()).rejects.toThrow('exited with code 1')
    server.close()
  })

  it('fails with the last probe result when it takes too long', async () => {
    const { port, close } = await holdPort(0, '127.0.0.1')
    await close()
    const late = { ...shell('sleep 60', { kind: 'tcp', port }), readyMs: 50 }
    const task = superviseTask(late, quick())
    await expect(task.start()).rejects.toThrow(/was not ready after 0.05 s: .*ECONNREFUSED/)
    expect(task.status().state).toBe('down')
  })
})
