/**
 * Implements locks between processes of one machine that a crash cannot leave behind: only one process can listen on a
 * socket name, and the kernel frees the name when that process exits.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ProcessLock {
  readonly release: () => Promise<void>
}

export interface LockOptions {
  readonly pollMs?: number
  readonly signal?: AbortSignal
  /** Called once, when another process holds all names. */
  readonly onWait?: () => void
}

/** Waits until one of the names is free and acquires it. */
export async function acquireLock(names: readonly string[], options: LockOptions = {}): Promise<ProcessLock> {
  const { pollMs = 100, signal, onWait } = options
  for (let waited = false; ; waited = true) {
    for (const name of names) {
      const lock = await tryAcquireLock(name)
      if (lock) return lock
    }
    if (!waited) onWait?.()
    await sleep(pollMs, undefined, signal && { signal })
  }
}

/** Returns undefined when another process holds the lock. */
export async function tryAcquireLock(name: string): Promise<ProcessLock | undefined> {
  const address = lockAddress(name)
  const server = (await listen(address)) ?? (await replaceStaleSocket(address))
  return server && { release: () => new Promise((resolve) => server.close(() => resolve())) }
}

function lockAddress(name: string): string {
  const id = createHash('sha256').update(`${userInfo().uid} ${name}`).digest('hex').slice(0, 32)
  // An abstract socket on Linux is not a file, so none can be left over.
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

/** Where the name is a file, a crashed holder leaves it behind: nothing accepts connections there. */
async function replaceStaleSocket(address: string): Promise<Server | undefined> {
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
