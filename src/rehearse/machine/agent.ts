/** Runs scripts in a virtual machine through the agent on its serial port (`data/rehearse/agent.sh`). */
import { type LineSocket, openLineSocket } from './line-socket.ts'

export interface ScriptResult {
  readonly code: number
  /** Both streams, in the order of the writes. */
  readonly output: string
}

export interface Agent {
  /** Runs a shell script. Scripts that are started together run side by side. */
  readonly run: (script: string, options?: { readonly signal?: AbortSignal | undefined }) => Promise<ScriptResult>
  readonly close: () => void
}

interface Waiting {
  readonly resolve: (result: ScriptResult) => void
  readonly reject: (reason: Error) => void
}

export async function openAgent(path: string): Promise<Agent> {
  const waiting = new Map<string, Waiting>()
  let next = 0
  const socket: LineSocket = await openLineSocket(path, {
    onLine: (line) => {
      const answer = parseAnswer(line)
      if (!answer) return
      waiting.get(answer.id)?.resolve(answer)
      waiting.delete(answer.id)
    },
    onClose: () => {
      for (const { reject } of waiting.values()) reject(new Error('the machine closed its serial port'))
      waiting.clear()
    },
  })
  return {
    run: (script, { signal } = {}) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted()
        const id = String(next++)
        const onAbort = (): void => reject(signal?.reason instanceof Error ? signal.reason : new Error('stopped'))
        signal?.addEventListener('abort', onAbort, { once: true })
        const settle = (): void => signal?.removeEventListener('abort', onAbort)
        waiting.set(id, {
          resolve: (result) => {
            settle()
            resolve(result)
          },
          reject: (reason) => {
            settle()
            reject(reason)
          },
        })
        socket.send(encodeRequest(id, script))
      }),
    close: socket.close,
  }
}

/** Pure: a request is one line, whatever the script has. */
export function encodeRequest(id: string, script: string): string {
  return `${id} ${Buffer.from(script).toString('base64')}`
}

/** Pure. A line that is no answer, such as a half line from before a restore, is ignored. */
export function parseAnswer(line: string): (ScriptResult & { readonly id: string }) | undefined {
  const match = /^(\d+) (\d+) ([A-Za-z0-9+/=]*)$/.exec(line)
  if (!match) return undefined
  const [, id = '', code, body = ''] = match
  return { id, code: Number(code), output: Buffer.from(body, 'base64').toString() }
}
