/**
 * Locks between processes of one machine that no crash leaves behind: a name that the kernel lets one process
 * listen on, and frees when that process ends, however it ends.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Lock {
  readonly release: () => Promise<void>
}

export interface LockOptions {
  readonly everyMs?: number
  readonly signal?: AbortSignal
  /** Called once, when somebody else holds it. */
  readonly onWait?: () => void
}

/** Waits until one of the names is free and takes it. */
export async function takeLock(names: readonly string[], options: LockOptions = {}): Promise<Lock> {
  const { everyMs = 100, signal, onWait } = options
  for (let waited = false; ; waited = true) {
    for (const name of names) {
      const lock = await tryLock(name)
      if (lock) return lock
    }
    if (!waited) onWait?.()
    await sleep(everyMs, undefined, signal && { signal })
  }
}

/** The lock, or undefined when somebody holds it. */
export async function tryLock(name: string): Promise<Lock | undefined> {
  const address = addressOf(name)
  const server = (await listen(address)) ?? (await takeOver(address))
  return server && { release: () => new Promise((resolve) => server.close(() => resolve())) }
}

function addressOf(name: string): string {
  const id = createHash('sha256').update(`${userInfo().uid} ${name}`).digest('hex').slice(0, 32)
  // An abstract name on Linux is no file, so none can be left over.
  if (process.platform === 'linux') return `\0stackloom-${id}`
  const folder = path.join(tmpdir(), `stackloom-${userInfo().uid}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return path.join(folder, `${id}.lock`)
}

function listen(address: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    )
    server.listen(address, () => resolve(server.unref()))
  })
}

/** Where the name is a file, a dead holder leaves it behind: nobody answers there any more. */
async function takeOver(address: string): Promise<Server | undefined> {
  if (address.startsWith('\0')) return undefined
  const answered = await new Promise<boolean>((resolve) => {
    const socket = connect(address)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
  if (answered) return undefined
  unlinkSync(address)
  return listen(address)
}
