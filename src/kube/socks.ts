/**
 * Connects through a SOCKS 5 proxy (RFC 1928, 1929), such as `ssh -D`: by host name, with or without a password.
 *
 * undici's support is experimental and prints a warning each time; this is the part that a client needs.
 */
import { connect, type Socket } from 'node:net'
import type { buildConnector } from 'undici'

const VERSION = 5
const NO_PASSWORD = 0
const PASSWORD = 2
const CONNECT = 1
const BY_NAME = 3

const refusals: Readonly<Record<number, string>> = {
  1: 'general failure',
  2: 'not allowed by its rules',
  3: 'network unreachable',
  4: 'host unreachable',
  5: 'connection refused',
  6: 'TTL expired',
}

export function socksConnector(
  proxy: string,
  secure: buildConnector.connector,
  timeoutMs: number,
): buildConnector.connector {
  const open: (...args: Parameters<buildConnector.connector>) => Promise<void> = async (options, callback) => {
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80)
    try {
      const socket = await dialThrough(new URL(proxy), options.hostname, port, timeoutMs)
      if (options.protocol === 'https:') secure({ ...options, httpSocket: socket }, callback)
      else callback(null, socket)
    } catch (thrown) {
      callback(thrown as Error, null)
    }
  }
  return (options, callback) => void open(options, callback)
}

async function dialThrough(proxy: URL, host: string, port: number, timeoutMs: number): Promise<Socket> {
  const socket = connect(Number(proxy.port) || 1080, proxy.hostname.replace(/^\[|\]$/g, ''))
  socket.setNoDelay(true)
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error('the proxy did not respond in time')))
  try {
    await ready(socket)
    await greet(socket, proxy)
    await requestConnection(socket, host.replace(/^\[|\]$/g, ''), port)
    socket.setTimeout(0)
    return socket
  } catch (thrown) {
    socket.destroy()
    throw thrown
  }
}

async function greet(socket: Socket, { username, password }: URL): Promise<void> {
  const method = username ? PASSWORD : NO_PASSWORD
  socket.write(Buffer.from([VERSION, 1, method]))
  const [version, chosen] = await readBytes(socket, 2)
  if (version !== VERSION) throw socksError('it does not speak SOCKS 5')
  if (chosen !== method) throw socksError(username ? 'it takes no password' : 'it needs a password')
  if (!username) return
  const parts = [username, password].map((part) => Buffer.from(decodeURIComponent(part)))
  socket.write(Buffer.concat([Buffer.from([1]), ...parts.flatMap((part) => [Buffer.from([part.length]), part])]))
  const [, status] = await readBytes(socket, 2)
  if (status !== 0) throw socksError('it does not accept the password')
}

/** The proxy resolves the name, so names work that only exist behind it. */
async function requestConnection(socket: Socket, host: string, port: number): Promise<void> {
  const name = Buffer.from(host)
  const head = Buffer.from([VERSION, CONNECT, 0, BY_NAME, name.length])
  socket.write(Buffer.concat([head, name, Buffer.from([port >> 8, port & 0xff])]))
  const [, status = 1, , kind] = await readBytes(socket, 4)
  if (status !== 0) throw socksError(refusals[status] ?? `status ${status}`)
  // The address that the proxy used is not needed, but its bytes come before the server's.
  const length = kind === 1 ? 4 : kind === 4 ? 16 : (await readBytes(socket, 1))[0]
  await readBytes(socket, (length ?? 0) + 2)
}

function socksError(reason: string): Error {
  return Object.assign(new Error(`the SOCKS proxy refuses: ${reason}`), { code: 'SOCKS_REFUSED' })
}

function ready(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve()
    })
    socket.once('error', reject)
  })
}

/** Exactly this many bytes; later bytes stay in the socket for the next reader. */
function readBytes(socket: Socket, count: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tryRead = (): void => {
      const bytes = socket.read(count) as Buffer | null
      if (bytes === null) return
      settle(() => resolve(bytes))
    }
    const fail = (error?: Error): void => settle(() => reject(error ?? socksError('it closed the connection')))
    const settle = (end: () => void): void => {
      socket.off('readable', tryRead).off('error', fail).off('end', fail)
      end()
    }
    socket.on('readable', tryRead).on('error', fail).on('end', fail)
    tryRead()
  })
}
