/** Controls a running QEMU by its machine protocol (QMP): JSON objects, one per line. */
import { openLineSocket } from './line-socket.ts'

export interface Qmp {
  readonly execute: (command: string, args?: object) => Promise<unknown>
  readonly close: () => void
}

interface Reply {
  readonly return?: unknown
  readonly error?: { readonly desc: string }
}

export async function openQmp(path: string): Promise<Qmp> {
  // Replies come in the order of the commands.
  const waiting: { readonly resolve: (value: unknown) => void; readonly reject: (reason: Error) => void }[] = []
  const socket = await openLineSocket(path, {
    onLine: (line) => {
      const reply = JSON.parse(line) as Reply
      // The greeting and events are no replies.
      if (!('return' in reply) && !reply.error) return
      const first = waiting.shift()
      if (reply.error) first?.reject(new Error(reply.error.desc))
      else first?.resolve(reply.return)
    },
    onClose: () => {
      for (const { reject } of waiting.splice(0)) reject(new Error('QEMU closed its control socket'))
    },
  })
  const execute = (command: string, args?: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      socket.send(JSON.stringify({ execute: command, ...(args && { arguments: args }) }))
    })
  await execute('qmp_capabilities')
  return { execute, close: socket.close }
}
