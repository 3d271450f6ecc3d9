/**
 * Connections through a SOCKS 5 proxy (RFC 1928, 1929), such as `ssh -D` opens: by name, with or without a password.
 *
 * undici's own support is experimental and says so to the user each time; this is the part of it that a client needs.
 */
import { connect, type Socket } from 'node:net'
import { buildConnector } from 'undici'

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
  6: 'the time to live ran out',
}

export function socksConnector(
  proxy: string,
  tls: buildConnector.BuildOptions,
  timeoutMs: number,
): buildConnector.connector {
  const secure = buildConnector({ ...tls, timeout: timeoutMs })
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
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error('the proxy did not answer in time')))
  try {
    await ready(socket)
    await greet(socket, proxy)
    await ask(socket, host.replace(/^\[|\]$/g, ''), port)
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
  const [version, chosen] = await take(socket, 2)
  if (version !== VERSION) throw refused('it does not speak SOCKS 5')
  if (chosen !== method) throw refused(username ? 'it takes no password' : 'it wants a password')
  if (!username) return
  const words = [username, password].map((word) => Buffer.from(decodeURIComponent(word)))
  socket.write(Buffer.concat([Buffer.from([1]), ...words.flatMap((word) => [Buffer.from([word.length]), word])]))
  const [, verdict] = await take(socket, 2)
  if (verdict !== 0) throw refused('it does not accept the password')
}

/** The proxy looks the name up, so names work that only exist behind it. */
async function ask(socket: Socket, host: string, port: number): Promise<void> {
  const name = Buffer.from(host)
  const head = Buffer.from([VERSION, CONNECT, 0, BY_NAME, name.length])
  socket.write(Buffer.concat([head, name, Buffer.from([port >> 8, port & 0xff])]))
  const [, verdict = 1, , kind] = await take(socket, 4)
  if (verdict !== 0) throw refused(refusals[verdict] ?? `answer ${verdict}`)
  // The address that the proxy used is of no interest, but its bytes stand before the server's.
  const length = kind === 1 ? 4 : kind === 4 ? 16 : (await take(socket, 1))[0]
  await take(socket, (length ?? 0) + 2)
}

function refused(reason: string): Error {
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

/** Exactly so many bytes; what comes after them stays in the socket for the next reader. */
function take(socket: Socket, count: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const bytes = socket.read(count) as Buffer | null
      if (bytes === null) return
      settle(() => resolve(bytes))
    }
    const fail = (error?: Error): void => settle(() => reject(error ?? refused('it closed the connection')))
    const settle = (end: () => void): void => {
      socket.off('readable', look).off('error', fail).off('end', fail)
      end()
    }
    socket.on('readable', look).on('error', fail).on('end', fail)
    look()
  })
}
