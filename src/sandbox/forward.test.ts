import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callSupervisor, createControlServer, isNotRunning } from './control.ts'
import { sandboxFolder, socketPath } from './folder.ts'
import { forward } from './forward.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-forward-'))
})
afterAll(() => rm(folder, { recursive: true }))

const received = async (socketPath: string, send: string): Promise<string> => {
  const socket = connect(socketPath)
  socket.end(send)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(socket, 'close')
  return text
}

describe('a forwarder', () => {
  it('forwards both directions and half-closed connections', async () => {
    const target = path.join(folder, 'target.sock')
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let text = ''
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
      socket.on('end', () => socket.end(`heard ${text}`))
    }).listen(target)
    const door = await forward({ path: path.join(folder, 'door.sock') }, { path: target })
    expect(await received(path.join(folder, 'door.sock'), 'hello')).toBe('heard hello')
    door.close()
    server.close()
  })

  it('closes the connection when the target does not listen', async () => {
    const at = path.join(folder, 'lonely.sock')
    const door = await forward({ path: at }, { path: path.join(folder, 'missing.sock') })
    const socket = connect(at).on('error', () => undefined)
    await once(socket, 'close')
    door.close()
  })
})

describe('the control socket', () => {
  const status = { pid: 1, ready: true, tasks: [] }

  it('answers each request and returns the reason of a refusal', async () => {
    const at = path.join(folder, 'control.sock')
    const server = createControlServer(async (request) => {
      if (request.do === 'kill') throw new Error(`there is no ${request.task} here`)
      return status
    }).listen(at)
    await once(server, 'listening')
    expect(await callSupervisor(at, { do: 'status' })).toEqual(status)
    await expect(callSupervisor(at, { do: 'kill', task: 'x' })).rejects.toThrow('there is no x here')
    server.close()
  })

  it('distinguishes an unresponsive supervisor from a missing one', async () => {
    const at = path.join(folder, 'silent.sock')
    const server = createServer(() => undefined).listen(at)
    await once(server, 'listening')
    const silent: unknown = await callSupervisor(at, { do: 'status' }, 30).catch((error: unknown) => error)
    expect(isNotRunning(silent)).toBe(false)
    const absent: unknown = await callSupervisor(path.join(folder, 'no.sock'), { do: 'status' }).catch(
      (error: unknown) => error,
    )
    expect(isNotRunning(absent)).toBe(true)
    server.close()
  })

  it('has a path within the kernel limit for any folder depth', () => {
    const deep = `/${'deep/'.repeat(40)}`
    expect(Buffer.byteLength(sandboxFolder(deep).control)).toBeLessThan(100)
    expect(socketPath(`${deep}a`)).not.toBe(socketPath(`${deep}b`))
  })
})
