/** Asks a child process that has `measure-event-loop.mjs` loaded how long its event loop was occupied. */
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'

/** Arguments of node before those of the program; the child needs an IPC channel. */
export const measureEventLoopArgs = ['--import', path.join(import.meta.dirname, 'measure-event-loop.mjs')]

/** Without this count of the kernel, the time that other programs take is in the figures. */
export const canMeasureEventLoop = (): boolean => existsSync('/proc/thread-self/schedstat')

export interface EventLoopUse {
  /** The longest turn since `begin`. */
  readonly longestMs: number
  readonly heapBytes: number
}

export interface EventLoopMeter {
  readonly begin: () => Promise<void>
  /** Waits until the child is idle. */
  readonly end: () => Promise<EventLoopUse>
}

export function eventLoopMeter(child: ChildProcess): EventLoopMeter {
  const ask = (message: string): Promise<unknown> =>
    new Promise((resolve) => {
      child.once('message', resolve)
      child.send(message)
    })
  return {
    begin: async () => void (await ask('begin')),
    end: async () => (await ask('end')) as EventLoopUse,
  }
}
