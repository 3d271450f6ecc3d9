/**
 * Locks a file between processes. The kernel holds the lock for the open file, so it ends with its process, however that
 * ends, and it stays held while the process is paused.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'

export type LockAttempt =
  | { readonly kind: 'locked'; readonly release: () => void }
  /** `holder` is the text that the holder wrote: its process id. */
  | { readonly kind: 'held'; readonly holder: string }
  /** This machine has no program that locks files. */
  | { readonly kind: 'unable'; readonly program: string; readonly why: string }

/** Tries once. The file stays: removing it would let two processes lock two files of one name. */
export function tryLockFile(file: string): LockAttempt {
  for (;;) {
    const attempt = process.platform === 'darwin' ? openLocked(file) : openAndLock(file)
    if (typeof attempt !== 'number') return attempt
    if (!isSameFile(attempt, file)) {
      // Another process replaced the file between opening and locking.
      closeSync(attempt)
      continue
    }
    ftruncateSync(attempt)
    writeSync(attempt, `${process.pid}\n`, 0)
    return { kind: 'locked', release: () => closeSync(attempt) }
  }
}

const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW

/** macOS locks in `open`. */
function openLocked(file: string): number | LockAttempt {
  const O_EXLOCK = 0x20
  try {
    return openSync(file, CREATE | O_EXLOCK | constants.O_NONBLOCK, 0o600)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') throw thrown
    return { kind: 'held', holder: readHolder(file) }
  }
}

/** flock(1) locks the open file that it inherits; the lock belongs to the file and remains when flock exits. */
function openAndLock(file: string): number | LockAttempt {
  const descriptor = openSync(file, CREATE, 0o600)
  const { status, error } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] })
  if (status === 0) return descriptor
  closeSync(descriptor)
  if (error) return { kind: 'unable', program: 'flock', why: error.message }
  return { kind: 'held', holder: readHolder(file) }
}

function readHolder(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}

function isSameFile(descriptor: number, file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false })
  const opened = fstatSync(descriptor)
  return found?.ino === opened.ino && found.dev === opened.dev
}
