/**
 * Runs a command in a pod and gives what it printed: how host discovery looks at a node.
 *
 * The API server's WebSocket protocol (v5.channel.k8s.io): the first byte of a message is its channel.
 */
import { type MessageEvent, WebSocket } from 'undici'
import { failure, formatError } from '../errors/failure.ts'
import { isApiError } from './api-error.ts'
import { podExecFailed } from './findings/api-server.ts'
import type { Transport } from './transport.ts'

export interface PodCommand {
  readonly namespace: string
  readonly pod: string
  readonly container?: string
  readonly command: readonly string[]
  /** After this long without an end the connection is given up. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export interface PodOutput {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

const STDOUT = 1
const STDERR = 2
const RESULT = 3

export async function execInPod(transport: Transport, call: PodCommand): Promise<PodOutput> {
  const path = execPath(call)
  try {
    return await overSocket(transport, path, call)
  } catch (thrown) {
    if (!(thrown instanceof HandshakeRefused)) throw thrown
    // A WebSocket hides why it was refused. The same address without the upgrade tells, and renews a stale credential.
    await explain(transport, path, call)
    return overSocket(transport, path, call).catch((again: unknown) => {
      throw again instanceof HandshakeRefused ? failed(call, 'the server refused the connection', again) : again
    })
  }
}

async function explain(transport: Transport, path: string, call: PodCommand): Promise<void> {
  try {
    const subject = `Pod ${call.namespace}/${call.pod}`
    await transport.text({ method: 'GET', path, safe: true, signal: call.signal, verb: 'exec into', subject })
  } catch (thrown) {
    // 400, "upgrade request required": everything else was in order.
    if (!isApiError(thrown, 'rejected')) throw thrown
  }
}

class HandshakeRefused extends Error {}

async function overSocket(transport: Transport, path: string, call: PodCommand): Promise<PodOutput> {
  const { signal, timeoutMs = 60_000 } = call
  signal?.throwIfAborted()
  const { dispatcher, headers } = await transport.upgrade()
  const url = transport.server.replace(/^http/, 'ws') + path
  const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
  const socket = new WebSocket(url, { protocols, dispatcher, headers: flat(headers) })
  socket.binaryType = 'arraybuffer'

  return new Promise<PodOutput>((resolve, reject) => {
    const chunks: Readonly<Record<number, Uint8Array[]>> = { [STDOUT]: [], [STDERR]: [] }
    let opened = false
    const finish = (end: () => void): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      socket.close()
      end()
    }
    const settle = (result: Uint8Array): void => {
      const exit = exitOf(textOf([result]))
      if (typeof exit === 'string') return reject(failed(call, exit))
      resolve({ stdout: textOf(chunks[STDOUT]), stderr: textOf(chunks[STDERR]), exitCode: exit })
    }
    const stop = (): void => finish(() => reject(signal?.reason as Error))
    const late = (): void => finish(() => reject(failed(call, `no end within ${timeoutMs / 1000} s`)))
    const timer = setTimeout(late, timeoutMs)
    signal?.addEventListener('abort', stop)

    socket.addEventListener('open', () => {
      opened = true
    })
    socket.addEventListener('message', (event: MessageEvent) => {
      const message = new Uint8Array(event.data as ArrayBuffer)
      // The result is sent after everything that was printed, so it is the end.
      if (message[0] === RESULT) return finish(() => settle(message.subarray(1)))
      chunks[message[0] ?? 0]?.push(message.subarray(1))
    })
    socket.addEventListener('error', (event) => {
      if (!opened) finish(() => reject(new HandshakeRefused(formatError(event.error))))
    })
    socket.addEventListener('close', () => finish(() => reject(failed(call, 'the connection ended early'))))
  })
}

function execPath({ namespace, pod, container, command }: PodCommand): string {
  const query = new URLSearchParams({ stdout: 'true', stderr: 'true', ...(container && { container }) })
  for (const word of command) query.append('command', word)
  const at = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`
  return `${at}/exec?${query.toString()}`
}

interface ExecStatus {
  readonly status?: string
  readonly message?: string
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] }
}

/** The result is a Status: success, or a cause named ExitCode. Without one the command was never run, and here is why. */
function exitOf(text: string): number | string {
  const { status, message, details } = readStatus(text)
  if (status === 'Success') return 0
  const code = details?.causes?.find((cause) => cause.reason === 'ExitCode')?.message
  return code === undefined ? (message ?? 'the server did not say why') : Number(code)
}

function readStatus(text: string): ExecStatus {
  try {
    return JSON.parse(text) as ExecStatus
  } catch {
    return { message: 'the result makes no sense' }
  }
}

function textOf(chunks: readonly Uint8Array[] = []): string {
  return Buffer.concat(chunks).toString('utf8')
}

function flat(headers: Readonly<Record<string, string | string[]>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one]))
}

function failed({ namespace, pod }: PodCommand, reason: string, cause?: unknown): Error {
  return failure(podExecFailed, { pod: `${namespace}/${pod}`, reason }, { cause, exitCode: 1 })
}
