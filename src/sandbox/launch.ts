/** Launches a supervisor, optionally in its own network namespace, and waits until it reports ready or failed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { failure, formatError } from '../errors/failure.ts'
import { type Exec, lastLines, succeeded, toProgram } from '../exec/process.ts'
import { namespaceUnavailable } from './findings.ts'
import { logFile, type SandboxFolder } from './folder.ts'
import type { StartOutcome } from './supervisor.ts'
import { OUTER_PID } from './supervisor-spec.ts'

export interface LaunchRequest {
  readonly folder: SandboxFolder
  /** The command that starts this program. */
  readonly self: readonly string[]
  readonly netns: boolean
  /** A script that creates the nodes and then starts the supervisor, as the first process of new namespaces. */
  readonly setupFile?: string | undefined
  /** The supervisor exits with this process. */
  readonly ephemeral: boolean
  /** A listening socket of this namespace on which the supervisor accepts. */
  readonly listenFd?: number
  /** Stops the supervisor and its programs. */
  readonly signal?: AbortSignal | undefined
}

export interface LaunchedSupervisor {
  readonly pid: number
  readonly outcome: StartOutcome
  readonly process: ChildProcess
  /** Waits until the supervisor and all of its programs have ended. */
  readonly ended: () => Promise<void>
}

/** Creates a namespace, brings up its loopback, and runs the program. A user other than root needs a user namespace. */
function unshareCommand(): readonly string[] {
  const mapped = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  const script = 'ip link set lo up && exec "$@"'
  return ['unshare', ...mapped, '--net', '/bin/sh', '-c', script, 'sh']
}

/**
 * Runs a script as the first process of namespaces for processes, mounts and network. They end with it, and it is killed when
 * this command is, which must be SIGKILL: unshare ignores the signals that a user sends to its child.
 */
function enclosureCommand(setupFile: string): readonly string[] {
  const namespaces = ['--pid', '--fork', '--kill-child', '--mount', '--mount-proc', '--ipc', '--net']
  return ['/bin/sh', '-c', `export ${OUTER_PID}=$$; exec "$@"`, 'sh', 'unshare', ...namespaces, '/bin/sh', setupFile]
}

/** Runs a program in the network namespace of a process. */
export function nsenterCommand(pid: number): readonly string[] {
  const mapped = process.getuid?.() === 0 ? [] : ['--user', '--preserve-credentials']
  return ['nsenter', '--target', String(pid), ...mapped, '--net', '--']
}

/** Why no namespace can be created on this machine, or undefined. */
export async function findNamespaceProblem(exec: Exec): Promise<string | undefined> {
  const { exit, stderr } = await exec(toProgram([...unshareCommand(), 'true']))
  if (succeeded(exit)) return undefined
  if (exit.kind === 'not-started') return exit.reason
  return stderr.trim() || 'unshare failed'
}

/** Wraps each program so that it is killed when the supervisor exits, even after SIGKILL. */
export async function parentDeathWrapper(exec: Exec): Promise<readonly string[]> {
  if (process.platform !== 'linux') return []
  const wrapper = ['setpriv', '--pdeathsig', 'KILL', '--']
  return succeeded((await exec(toProgram([...wrapper, 'true']))).exit) ? wrapper : []
}

export async function launchSupervisor(request: LaunchRequest): Promise<LaunchedSupervisor> {
  const { folder, self, netns, setupFile, ephemeral, listenFd, signal } = request
  const wrapper = setupFile === undefined ? (netns ? unshareCommand() : []) : enclosureCommand(setupFile)
  const { file, args } = toProgram([...wrapper, ...self, 'sandbox', 'supervise', folder.root])
  const logName = logFile(folder, 'supervisor')
  const log = openSync(logName, 'a', 0o600)
  const { size } = fstatSync(log)
  const readLog = (): string => {
    try {
      return readFileSync(logName).subarray(size).toString()
    } catch {
      // An ephemeral supervisor removes its folder.
      return ''
    }
  }
  try {
    const child = spawn(file, [...args], {
      detached: true,
      stdio: [ephemeral ? 'pipe' : 'ignore', 'pipe', log, ...(listenFd === undefined ? [] : [listenFd])],
    })
    child.stdin?.on('error', () => undefined)
    const interrupt = (): void => void child.kill(setupFile === undefined ? 'SIGTERM' : 'SIGKILL')
    signal?.addEventListener('abort', interrupt, { once: true })
    if (signal?.aborted) interrupt()
    const outcome = await readOutcome(child, readLog)
    signal?.removeEventListener('abort', interrupt)
    // A persistent sandbox must not keep its launcher alive.
    child.stdout?.destroy()
    child.unref()
    return { pid: child.pid ?? 0, outcome, process: child, ended: () => waitForEnd(child) }
  } finally {
    closeSync(log)
  }
}

function waitForEnd(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  // Nothing else may keep this process, which would end here without a word.
  child.ref()
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

function readOutcome(child: ChildProcess, readLog: () => string): Promise<StartOutcome> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(failure(namespaceUnavailable, { reason: formatError(error) })))
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
      // The outcome may still be in the pipe.
      setTimeout(() => {
        const log = readLog()
        const said = lastLines(log, 2).replaceAll('\n', ' ')
        const reason = `exited with ${signal ?? `code ${code}`}${said === '' ? '' : `: ${said}`}`
        resolve({ kind: 'failed', task: 'supervisor', reason, log })
      }, 100)
    }
    child.once('exit', onExit)
    if (!child.stdout) return
    createInterface({ input: child.stdout }).once('line', (line) => {
      child.off('exit', onExit)
      resolve(JSON.parse(line) as StartOutcome)
    })
  })
}
