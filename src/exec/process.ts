/**
 * Runs child processes in their own process group, reads their output line by line, and ends the whole group.
 *
 * Must not know any program by name. A failing program is a value (`ExitStatus`), never an exception.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'
import { formatError } from '../errors/failure.ts'
import { createRedactor } from './redact.ts'

export interface Program {
  readonly file: string
  readonly args?: readonly string[]
  readonly cwd?: string
  /** Added to the environment of this process; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Written to stdin, which is then closed. Secrets are passed here, never in `args`. */
  readonly input?: string
}

/** Splits a command line given as one list: the program comes first. */
export function toProgram(commandLine: readonly string[]): {
  readonly file: string
  readonly args: readonly string[]
} {
  const [file = '', ...args] = commandLine
  return { file, args }
}

export type Stream = 'stdout' | 'stderr'

export interface ProcessOptions {
  readonly onLine?: (line: string, stream: Stream) => void
  /** Cancels: the group gets SIGTERM, and SIGKILL after `graceMs`. */
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  readonly graceMs?: number
  /** Masked in every line and in the collected output. */
  readonly secrets?: readonly string[]
  /** An open file that receives both streams unchanged; no lines are read and nothing is masked. */
  readonly logTo?: number
}

export type ExitStatus =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'timed-out'; readonly afterMs: number }
  | { readonly kind: 'cancelled' }
  /** The program is missing or not executable. */
  | { readonly kind: 'not-started'; readonly reason: string; readonly missing: boolean }

export interface RunningProcess {
  readonly pid: number | undefined
  readonly exit: Promise<ExitStatus>
  /** Ends the whole group and waits for it. */
  readonly stop: () => Promise<ExitStatus>
  readonly kill: (signal: NodeJS.Signals) => void
  /** Lets this process end before the program does. Its further output is lost. */
  readonly release: () => void
}

const GRACE_MS = 5000

export function startProcess(program: Program, options: ProcessOptions = {}): RunningProcess {
  const mask = createRedactor(options.secrets ?? [])
  const child = spawnGroup(program, options.logTo ?? 'pipe')
  const readers = (['stdout', 'stderr'] as const).map((name) => {
    const reader = createLineReader((line) => options.onLine?.(mask(line), name))
    child[name]?.on('data', reader.push)
    return reader
  })
  let cause: ExitStatus | undefined
  let grace: NodeJS.Timeout | undefined
  const kill = (signal: NodeJS.Signals): void => signalGroup(child, signal)
  const end = (status: ExitStatus | undefined): void => {
    cause ??= status
    kill('SIGTERM')
    grace ??= setTimeout(() => kill('SIGKILL'), options.graceMs ?? GRACE_MS)
  }
  const { timeoutMs, signal } = options
  const timer = timeoutMs && setTimeout(() => end({ kind: 'timed-out', afterMs: timeoutMs }), timeoutMs)
  const onAbort = (): void => end({ kind: 'cancelled' })
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })

  const ended = new Promise<ExitStatus>((resolve) => {
    const finish = (status: ExitStatus): void => {
      clearTimeout(timer || undefined)
      clearTimeout(grace)
      signal?.removeEventListener('abort', onAbort)
      for (const reader of readers) reader.end()
      resolve(cause ?? status)
    }
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return
      const missing = error.code === 'ENOENT'
      finish({ kind: 'not-started', reason: mask(formatError(error)), missing })
    })
    // Processes that are left in the group end with the program, or they would hold the pipes open.
    child.once('exit', () => kill('SIGKILL'))
    child.once('close', (code, killSignal) => {
      finish(killSignal ? { kind: 'killed', signal: killSignal } : { kind: 'exited', code: code ?? 0 })
    })
  })
  const stop = (): Promise<ExitStatus> => {
    end(undefined)
    return ended
  }
  const release = (): void => {
    child.unref()
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
  return { pid: child.pid, exit: ended, stop, kill, release }
}

export interface ProcessResult {
  readonly exit: ExitStatus
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
}

/** Runs a program to its end and collects its output. */
export type Exec = (program: Program, options?: ProcessOptions) => Promise<ProcessResult>

export const runProcess: Exec = (program, options = {}) =>
  collectOutput((collecting) => startProcess(program, collecting), options)

/** Waits for the end of a program that `start` starts. */
export async function collectOutput(
  start: (options: ProcessOptions) => RunningProcess,
  options: ProcessOptions,
): Promise<ProcessResult> {
  const startedAt = performance.now()
  const collected: Record<Stream, string[]> = { stdout: [], stderr: [] }
  const { exit } = start({
    ...options,
    onLine: (line, stream) => {
      collected[stream].push(line)
      options.onLine?.(line, stream)
    },
  })
  const status = await exit
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
  const { stdout, stderr } = collected
  return { exit: status, stdout: text(stdout), stderr: text(stderr), ms: Math.round(performance.now() - startedAt) }
}

export function succeeded(status: ExitStatus): boolean {
  return status.kind === 'exited' && status.code === 0
}

/** How it ended, as part of a sentence: `etcd exited with code 1`. */
export function describeExit(status: ExitStatus): string {
  switch (status.kind) {
    case 'exited':
      return `exited with code ${status.code}`
    case 'killed':
      return `was ended by ${status.signal}`
    case 'timed-out':
      return `did not end within ${status.afterMs / 1000} s`
    case 'cancelled':
      return 'was cancelled'
    case 'not-started':
      return `could not be started: ${status.reason}`
  }
}

/** The last lines of an output, where the reason usually is. */
export function lastLines(text: string, lines = 5): string {
  return text.trimEnd().split('\n').slice(-lines).join('\n')
}

function spawnGroup({ file, args = [], cwd, env, input }: Program, output: number | 'pipe'): ChildProcess {
  const stdio: StdioOptions = [input === undefined ? 'ignore' : 'pipe', output, output]
  const child = spawn(file, [...args], {
    detached: true,
    env: { ...process.env, ...env },
    stdio,
    ...(cwd !== undefined && { cwd }),
  })
  // A program may end without reading all of its input.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  return child
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // The group has ended already.
  }
}

export interface LineReader {
  readonly push: (chunk: Buffer) => void
  readonly end: () => void
}

export function createLineReader(onLine: (line: string) => void): LineReader {
  const decoder = new StringDecoder('utf8')
  let unfinished = ''
  const append = (text: string): void => {
    const lines = (unfinished + text).split('\n')
    unfinished = lines.pop() ?? ''
    for (const line of lines) onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
  return {
    push: (chunk) => append(decoder.write(chunk)),
    end: () => {
      append(decoder.end())
      if (unfinished) onLine(unfinished)
      unfinished = ''
    },
  }
}
