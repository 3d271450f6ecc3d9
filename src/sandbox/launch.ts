/**
 * Starts a supervisor and waits for its one word: ready, or why not. In a network namespace of its own when asked.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { failure, reasonOf } from '../errors/failure.ts'
import { namespaceImpossible } from '../errors/sandbox.ts'
import { type Exec, programOf, succeeded } from '../exec/process.ts'
import { logFile, type SandboxFolder } from './folder.ts'
import type { Outcome } from './supervisor.ts'

export interface LaunchRequest {
  readonly folder: SandboxFolder
  /** How to start this program again. */
  readonly self: readonly string[]
  readonly netns: boolean
  /** The supervisor ends with this process. */
  readonly ephemeral: boolean
  /** A listening socket of this namespace that the supervisor is to accept on. */
  readonly handDown?: number
  /** Ends the supervisor, and with it what it has started. */
  readonly signal?: AbortSignal | undefined
}

export interface Launched {
  readonly pid: number
  readonly outcome: Outcome
  readonly process: ChildProcess
}

/** Makes a namespace, brings up its loopback, and becomes the program. A user who is not root maps itself first. */
function namespaceCommand(): readonly string[] {
  const mapped = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  const script = 'ip link set lo up && exec "$@"'
  return ['unshare', ...mapped, '--net', '/bin/sh', '-c', script, 'sh']
}

/** Runs a program inside the namespace of a process. */
export function enterCommand(pid: number): readonly string[] {
  const mapped = process.getuid?.() === 0 ? [] : ['--user', '--preserve-credentials']
  return ['nsenter', '--target', String(pid), ...mapped, '--net', '--']
}

/** Why no namespace can be made here, or undefined. */
export async function namespaceRefusal(exec: Exec): Promise<string | undefined> {
  const { ending, stderr } = await exec(programOf([...namespaceCommand(), 'true']))
  if (succeeded(ending)) return undefined
  if (ending.kind === 'not-started') return ending.reason
  return stderr.trim() || 'unshare failed'
}

/** What goes before each program so that it ends with the supervisor, even after a kill -9. */
export async function deathWrapper(exec: Exec): Promise<readonly string[]> {
  if (process.platform !== 'linux') return []
  const wrapper = ['setpriv', '--pdeathsig', 'KILL', '--']
  return succeeded((await exec(programOf([...wrapper, 'true']))).ending) ? wrapper : []
}

export async function launch(request: LaunchRequest): Promise<Launched> {
  const { folder, self, netns, ephemeral, handDown, signal } = request
  const { file, args } = programOf([
    ...(netns ? namespaceCommand() : []),
    ...self,
    'sandbox',
    'supervise',
    folder.root,
  ])
  const log = openSync(logFile(folder, 'supervisor'), 'a', 0o600)
  try {
    const child = spawn(file, [...args], {
      detached: true,
      stdio: [ephemeral ? 'pipe' : 'ignore', 'pipe', log, ...(handDown === undefined ? [] : [handDown])],
    })
    child.stdin?.on('error', () => undefined)
    const interrupt = (): void => void child.kill('SIGTERM')
    signal?.addEventListener('abort', interrupt, { once: true })
    if (signal?.aborted) interrupt()
    const outcome = await firstWord(child)
    signal?.removeEventListener('abort', interrupt)
    // A sandbox that stays must not keep its launcher alive.
    child.stdout?.destroy()
    child.unref()
    return { pid: child.pid ?? 0, outcome, process: child }
  } finally {
    closeSync(log)
  }
}

function firstWord(child: ChildProcess): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(failure(namespaceImpossible, { reason: reasonOf(error) })))
    child.once('exit', (code, signal) => {
      const reason = `ended with ${signal ?? `code ${code}`}`
      // Its last word may still be in the pipe.
      setTimeout(() => resolve({ kind: 'failed', task: 'supervisor', reason, log: '' }), 100)
    })
    if (!child.stdout) return
    createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line) as Outcome))
  })
}
