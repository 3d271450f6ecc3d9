/** Connects to a Unix socket of a virtual machine and exchanges lines with it. Knows no protocol. */
import { connect, type Socket } from 'node:net'
import { createLineReader } from '../../exec/process.ts'

export interface LineSocket {
  readonly send: (line: string) => void
  readonly close: () => void
}

export interface LineSocketOptions {
  readonly onLine: (line: string) => void
  readonly onClose: () => void
}

/** Fails if nothing listens; QEMU listens once it has started. */
export async function openLineSocket(path: string, { onLine, onClose }: LineSocketOptions): Promise<LineSocket> {
  const socket = await new Promise<Socket>((resolve, reject) => {
    const opened = connect({ path })
    opened.once('connect', () => resolve(opened))
    opened.once('error', reject)
  })
  const reader = createLineReader(onLine)
  socket.on('data', reader.push)
  socket.on('error', () => undefined)
  socket.once('close', onClose)
  return { send: (line) => socket.write(`${line}\n`), close: () => socket.destroy() }
}
