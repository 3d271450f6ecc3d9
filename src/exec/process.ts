/**
 * Child processes: started in a group of their own, read line by line, ended with everything that they started.
 *
 * Knows no program by name. A program that fails is a value (`Ending`), never an exception.
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
  /** Written to its standard input, which is then closed. Secrets go this way, never in `args`. */
  readonly input?: string
}

/** A command line as one list: the program first. */
export function toProgram(words: readonly string[]): {
  readonly file: string
  readonly args: readonly string[]
} {
  const [file = '', ...args] = words
  return { file, args }
}

export type Stream = 'stdout' | 'stderr'

export interface ProcessOptions {
  readonly onLine?: (line: string, stream: Stream) => void
  /** Cancels: the group gets SIGTERM, and SIGKILL when `graceMs` have passed. */
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  readonly graceMs?: number
  /** Masked in every line and in the collected output. */
  readonly secrets?: readonly string[]
  /** An open file that takes both streams as they are; then no lines are read, and nothing is masked. */
  readonly logTo?: number
}

export type ExitStatus =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'timed-out'; readonly afterMs: number }
  | { readonly kind: 'cancelled' }
  /** The program is missing or may not be run. */
  | { readonly kind: 'not-started'; readonly reason: string; readonly missing: boolean }

export interface RunningProcess {
  readonly pid: number | undefined
  readonly exit: Promise<ExitStatus>
  /** Ends the whole group and waits until it is gone. */
  readonly stop: () => Promise<ExitStatus>
  readonly kill: (signal: NodeJS.Signals) => void
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
  const end = (why: ExitStatus | undefined): void => {
    cause ??= why
    kill('SIGTERM')
    grace ??= setTimeout(() => kill('SIGKILL'), options.graceMs ?? GRACE_MS)
  }
  const { timeoutMs, signal } = options
  const timer = timeoutMs && setTimeout(() => end({ kind: 'timed-out', afterMs: timeoutMs }), timeoutMs)
  const onAbort = (): void => end({ kind: 'cancelled' })
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })

  const ended = new Promise<ExitStatus>((resolve) => {
    const finish = (ending: ExitStatus): void => {
      clearTimeout(timer || undefined)
      clearTimeout(grace)
      signal?.removeEventListener('abort', onAbort)
      for (const reader of readers) reader.end()
      resolve(cause ?? ending)
    }
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return
      const missing = error.code === 'ENOENT'
      finish({ kind: 'not-started', reason: mask(formatError(error)), missing })
    })
    // Whatever the program started and left in its group ends with it, or it would hold the pipes open.
    child.once('exit', () => kill('SIGKILL'))
    child.once('close', (code, by) => {
      finish(by ? { kind: 'killed', signal: by } : { kind: 'exited', code: code ?? 0 })
    })
  })
  const stop = (): Promise<ExitStatus> => {
    end(undefined)
    return ended
  }
  return { pid: child.pid, exit: ended, stop, kill }
}

export interface ProcessResult {
  readonly exit: ExitStatus
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
}

/** Runs a program to its end and collects what it said. */
export type Exec = (program: Program, options?: ProcessOptions) => Promise<ProcessResult>

export const runProcess: Exec = async (program, options = {}) => {
  const began = performance.now()
  const collected: Record<Stream, string[]> = { stdout: [], stderr: [] }
  const { exit } = startProcess(program, {
    ...options,
    onLine: (line, stream) => {
      collected[stream].push(line)
      options.onLine?.(line, stream)
    },
  })
  const ending = await exit
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
  const { stdout, stderr } = collected
  return { exit: ending, stdout: text(stdout), stderr: text(stderr), ms: Math.round(performance.now() - began) }
}

export function succeeded(ending: ExitStatus): boolean {
  return ending.kind === 'exited' && ending.code === 0
}

/** How it ended, for a sentence: `etcd exited with code 1`. */
export function describeExit(ending: ExitStatus): string {
  switch (ending.kind) {
    case 'exited':
      return `exited with code ${ending.code}`
    case 'killed':
      return `was ended by ${ending.signal}`
    case 'timed-out':
      return `did not end within ${ending.afterMs / 1000} s`
    case 'cancelled':
      return 'was cancelled'
    case 'not-started':
      return `could not be started: ${ending.reason}`
  }
}

/** The last lines of an output: the reason is most often there. */
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
  // A program that ends without reading all of its input is no failure of ours.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  return child
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // The group is gone already.
  }
}

export interface LineReader {
  readonly push: (chunk: Buffer) => void
  readonly end: () => void
}

export function createLineReader(onLine: (line: string) => void): LineReader {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  const take = (text: string): void => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
  return {
    push: (chunk) => take(decoder.write(chunk)),
    end: () => {
      take(decoder.end())
      if (rest) onLine(rest)
      rest = ''
    },
  }
}
