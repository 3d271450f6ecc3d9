import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { respondJson, statusObject } from '../../test/scripted-server.ts'
import { fixedCredential } from './credential.ts'
import { execInPod } from './pod-exec.ts'
import { openTransport, type Transport } from './transport.ts'

const open: { readonly close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((resource) => resource.close()))
})

/** A WebSocket message of a server: never masked. */
function frame(opcode: number, payload: Uint8Array): Buffer {
  const length = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 0xff]
  return Buffer.concat([Buffer.from([0x80 | opcode, ...length]), payload])
}
const message = (channel: number, text: string): Buffer =>
  frame(2, Buffer.concat([Buffer.from([channel]), Buffer.from(text)]))
const bye = frame(8, Buffer.from([0x03, 0xe8]))

type Session = (socket: Socket) => void

/** The exec endpoint of an API server: a WebSocket, or an error. */
async function execServer(session: Session, refusal?: { readonly status: number; readonly reason: string }) {
  const requests: IncomingMessage[] = []
  const sockets = new Set<Socket>()
  const server = createServer((_, answer) => {
    const { status, reason } = refusal ?? { status: 400, reason: 'BadRequest' }
    respondJson(answer, statusObject(status, reason, 'said the server', { name: 'p', kind: 'pods' }), status)
  })
  server.on('connection', (socket: Socket) => void sockets.add(socket))
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    requests.push(request)
    if (refusal) return void socket.end(`HTTP/1.1 ${refusal.status} ${refusal.reason}\r\ncontent-length: 0\r\n\r\n`)
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: v5.channel.k8s.io\r\n\r\n`,
    )
    session(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const credential = fixedCredential('user ann', { headers: { authorization: 'Bearer t' } })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const transport: Transport = openTransport({
    server: url,
    context: undefined,
    namespace: 'x',
    tls: {},
    proxy: undefined,
    credential,
  })
  open.push(transport, {
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  })
  return { transport, requests }
}

const call = { namespace: 'ns', pod: 'p', container: 'c', command: ['ip', '-j', 'addr show'] }
const nonZero = JSON.stringify({
  status: 'Failure',
  details: { causes: [{ reason: 'ExitCode', message: '3' }] },
})

describe('execInPod', () => {
  it('returns the output and the exit code', async () => {
    const { transport, requests } = await execServer((socket) => {
      socket.write(Buffer.concat([message(1, ''), message(1, '[{"a":'), message(2, 'careful'), message(1, '1}]')]))
      socket.write(Buffer.concat([message(3, nonZero), bye]))
    })
    expect(await execInPod(transport, call)).toEqual({ stdout: '[{"a":1}]', stderr: 'careful', exitCode: 3 })
    expect(requests[0]?.url).toBe(
      '/api/v1/namespaces/ns/pods/p/exec?stdout=true&stderr=true&container=c&command=ip&command=-j&command=addr+show',
    )
    expect(requests[0]?.headers.authorization).toBe('Bearer t')
  })

  it('returns exit code 0 after a success', async () => {
    const { transport } = await execServer((socket) => {
      socket.write(Buffer.concat([message(1, 'x'.repeat(5000)), message(3, '{"status":"Success"}'), bye]))
    })
    expect(await execInPod(transport, call)).toMatchObject({ exitCode: 0, stdout: 'x'.repeat(5000) })
  })

  it.each([
    ['{"status":"Failure","message":"executable file not found"}', 'executable file not found'],
    ['oops', 'cannot be parsed'],
  ])('reports why a command did not run: %s', async (result, reason) => {
    const { transport } = await execServer((socket) => void socket.write(message(3, result)))
    await expect(execInPod(transport, call)).rejects.toMatchObject({
      findings: [{ code: 'SL1126', message: expect.stringContaining(reason) }],
    })
  })

  it('reports why it was refused', async () => {
    const { transport, requests } = await execServer(() => undefined, { status: 403, reason: 'Forbidden' })
    await expect(execInPod(transport, call)).rejects.toMatchObject({
      kind: 'forbidden',
      findings: [{ code: 'SL1108' }],
    })
    expect(requests).toHaveLength(1)
  })

  it('fails when the connection ends early, instead of returning an empty output', async () => {
    const { transport } = await execServer((socket) => {
      socket.write(message(1, 'half'))
      setTimeout(() => socket.destroy(), 20)
    })
    await expect(execInPod(transport, call)).rejects.toMatchObject({ findings: [{ code: 'SL1126' }] })
  })

  it('does not start the command when its guard refuses while the connection is opened', async () => {
    const { transport, requests } = await execServer(() => undefined)
    let checks = 0
    const guard = (): void => {
      checks += 1
      if (checks > 1) throw new Error('lost')
    }
    await expect(execInPod(transport, { ...call, guard })).rejects.toThrow('lost')
    expect(requests).toEqual([])
  })

  it('ends when it takes too long, or when it is aborted', async () => {
    const { transport } = await execServer(() => undefined)
    await expect(execInPod(transport, { ...call, timeoutMs: 50 })).rejects.toMatchObject({
      findings: [{ code: 'SL1126' }],
    })
    const stop = new AbortController()
    setTimeout(() => stop.abort(new Error('enough')), 30)
    await expect(execInPod(transport, { ...call, signal: stop.signal })).rejects.toThrow('enough')
  })
})
