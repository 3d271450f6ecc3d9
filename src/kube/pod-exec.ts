/**
 * Runs a command in a pod and returns its output; host discovery inspects nodes with it.
 *
 * Speaks the API server's WebSocket protocol (v5.channel.k8s.io): the first byte of a message is its channel.
 */
import { type MessageEvent, WebSocket } from 'undici'
import { failure, formatError } from '../errors/failure.ts'
import { isApiError } from './api-error.ts'
import { podExecFailed } from './findings/api-server.ts'
import type { Transport } from './transport.ts'
import { guardedDispatcher, type WriteGuard } from './write-guard.ts'

export interface PodCommand {
  readonly namespace: string
  readonly pod: string
  readonly container?: string
  readonly command: readonly string[]
  /** The connection is closed after this time. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Called when the request is about to be sent; the command does not start when it throws. */
  readonly guard?: WriteGuard
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
    // A WebSocket hides why it was refused. The same URL without the upgrade tells, and renews a stale credential.
    await findRefusalReason(transport, path, call)
    return overSocket(transport, path, call).catch((secondError: unknown) => {
      throw secondError instanceof HandshakeRefused
        ? execError(call, 'the server refused the connection', secondError)
        : secondError
    })
  }
}

async function findRefusalReason(transport: Transport, path: string, call: PodCommand): Promise<void> {
  try {
    const subject = `Pod ${call.namespace}/${call.pod}`
    await transport.text({ method: 'GET', path, idempotent: true, signal: call.signal, verb: 'exec into', subject })
  } catch (thrown) {
    // 400, "upgrade request required": everything else is in order.
    if (!isApiError(thrown, 'rejected')) throw thrown
  }
}

class HandshakeRefused extends Error {}

async function overSocket(transport: Transport, path: string, call: PodCommand): Promise<PodOutput> {
  const { signal, guard, timeoutMs = 60_000 } = call
  guard?.()
  signal?.throwIfAborted()
  const { dispatcher: pool, headers } = await transport.upgrade()
  const dispatcher = guard ? guardedDispatcher(pool, guard) : pool
  const url = transport.server.replace(/^http/, 'ws') + path
  const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
  const socket = new WebSocket(url, { protocols, dispatcher, headers: flattenHeaders(headers) })
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
      const exit = parseExit(decode([result]))
      if (typeof exit === 'string') return reject(execError(call, exit))
      resolve({ stdout: decode(chunks[STDOUT]), stderr: decode(chunks[STDERR]), exitCode: exit })
    }
    const stop = (): void => finish(() => reject(signal?.reason as Error))
    const timeOut = (): void => finish(() => reject(execError(call, `no end within ${timeoutMs / 1000} s`)))
    const timer = setTimeout(timeOut, timeoutMs)
    signal?.addEventListener('abort', stop)

    socket.addEventListener('open', () => {
      opened = true
    })
    socket.addEventListener('message', (event: MessageEvent) => {
      const message = new Uint8Array(event.data as ArrayBuffer)
      // The result is sent after all output, so it is the end.
      if (message[0] === RESULT) return finish(() => settle(message.subarray(1)))
      chunks[message[0] ?? 0]?.push(message.subarray(1))
    })
    socket.addEventListener('error', (event) => {
      if (!opened) finish(() => reject(new HandshakeRefused(formatError(event.error))))
    })
    socket.addEventListener('close', () => finish(() => reject(execError(call, 'the connection ended early'))))
  })
}

function execPath({ namespace, pod, container, command }: PodCommand): string {
  const query = new URLSearchParams({ stdout: 'true', stderr: 'true', ...(container && { container }) })
  for (const word of command) query.append('command', word)
  const podPath = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`
  return `${podPath}/exec?${query.toString()}`
}

interface ExecStatus {
  readonly status?: string
  readonly message?: string
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] }
}

/** The result is a Status: success, or a cause named ExitCode. Otherwise the command did not run, for this reason. */
function parseExit(text: string): number | string {
  const { status, message, details } = readStatus(text)
  if (status === 'Success') return 0
  const code = details?.causes?.find((cause) => cause.reason === 'ExitCode')?.message
  return code === undefined ? (message ?? 'the server gave no reason') : Number(code)
}

function readStatus(text: string): ExecStatus {
  try {
    return JSON.parse(text) as ExecStatus
  } catch {
    return { message: 'the result cannot be parsed' }
  }
}

function decode(chunks: readonly Uint8Array[] = []): string {
  return Buffer.concat(chunks).toString('utf8')
}

function flattenHeaders(headers: Readonly<Record<string, string | string[]>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((single): [string, string] => [name, single]),
  )
}

function execError({ namespace, pod }: PodCommand, reason: string, cause?: unknown): Error {
  return failure(podExecFailed, { pod: `${namespace}/${pod}`, reason }, { cause, exitCode: 1 })
}
