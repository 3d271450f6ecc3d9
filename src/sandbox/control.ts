/** Implements the control protocol of the supervisor: one JSON line per request and response, over a socket in its folder. */

import { connect, createServer, type Server } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatError } from '../errors/failure.ts'
import type { SupervisorStatus } from './supervisor-spec.ts'

export type ControlRequest =
  | { readonly do: 'status' }
  | { readonly do: 'stop' }
  /** Kills a task with SIGKILL; it stays down until it is started again. */
  | { readonly do: 'kill'; readonly task: string }
  /** Starts a task that is down and waits until it is ready. */
  | { readonly do: 'start'; readonly task: string }
  /** Forwards connections to this loopback port of the sandbox to the socket. */
  | { readonly do: 'expose'; readonly port: number; readonly socket: string }

export type ControlResponse =
  | { readonly kind: 'done'; readonly status: SupervisorStatus }
  | { readonly kind: 'refused'; readonly reason: string }

const ATTEMPTS = 20
const RETRY_MS = 50

class ControlError extends Error {
  override readonly name = 'ControlError'
}

/** Sends a request and returns the status. Retries when the supervisor closes the connection, which may mean that it is exiting. */
export async function callSupervisor(
  socketPath: string,
  request: ControlRequest,
  timeoutMs = 30_000,
): Promise<SupervisorStatus> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = JSON.parse(await callOnce(socketPath, request, timeoutMs)) as ControlResponse
      if (answer.kind === 'refused') throw new ControlError(answer.reason)
      return answer.status
    } catch (error) {
      if (attempt === ATTEMPTS || !isConnectionReset(error)) throw error
      await sleep(RETRY_MS)
    }
  }
}

function callOnce(socketPath: string, request: ControlRequest, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath)
    socket.setTimeout(timeoutMs, () => socket.destroy(new ControlError(`no answer in ${timeoutMs} ms`)))
    socket.once('error', reject)
    socket.once('connect', () => socket.write(`${JSON.stringify(request)}\n`))
    const lines = createInterface({ input: socket })
    lines.once('line', (text) => {
      resolve(text)
      socket.destroy()
    })
    lines.once('close', () =>
      reject(Object.assign(new ControlError('it closed the connection'), { code: 'ECONNRESET' })),
    )
    lines.on('error', () => undefined)
  })
}

function isConnectionReset(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ECONNRESET' || code === 'EPIPE'
}

/** Whether an error of `callSupervisor` means that no supervisor listens. */
export function isNotRunning(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ENOENT' || code === 'ECONNREFUSED'
}

export function createControlServer(handle: (request: ControlRequest) => Promise<SupervisorStatus>): Server {
  return createServer((socket) => {
    socket.on('error', () => undefined)
    createInterface({ input: socket }).on('line', (line) => {
      const reply = (value: ControlResponse): void => void socket.write(`${JSON.stringify(value)}\n`)
      Promise.resolve()
        .then(() => handle(JSON.parse(line) as ControlRequest))
        .then(
          (status) => reply({ kind: 'done', status }),
          (error: unknown) => reply({ kind: 'refused', reason: formatError(error) }),
        )
    })
  })
}
