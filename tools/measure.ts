/**
 * Ways to measure a figure: medians, the alternative in the same run, turn by turn, and the peak memory of a child.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Work to be timed. It may return its own milliseconds, when only a part of it counts. */
export type Work = () => unknown

export interface Comparison {
  readonly ours: Work
  readonly theirs: Work
  /** How many turns each; odd, so that the median is one of them. */
  readonly rounds?: number
  /** Turns that do not count: caches and compilers settle. */
  readonly warmUp?: number
}

export interface Compared {
  readonly ours: number
  readonly theirs: number
  readonly ratio: number
}

/** Both sides turn by turn, each first in every second round, so that a busy machine is busy for both. */
export async function compare({ ours, theirs, rounds = 11, warmUp = 1 }: Comparison): Promise<Compared> {
  const times = { ours: [] as number[], theirs: [] as number[] }
  for (let round = -warmUp; round < rounds; round += 1) {
    const order = round % 2 === 0 ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const)
    for (const side of order) {
      const milliseconds = await timed(side === 'ours' ? ours : theirs)
      if (round >= 0) times[side].push(milliseconds)
    }
  }
  const medians = { ours: median(times.ours), theirs: median(times.theirs) }
  return { ...medians, ratio: medians.ours / medians.theirs }
}

/** How many times the alternative's time ours takes: the figure with the unit `x`. */
export async function ratio(comparison: Comparison): Promise<number> {
  return (await compare(comparison)).ratio
}

export async function timed(work: Work): Promise<number> {
  const started = performance.now()
  const own = await work()
  return typeof own === 'number' ? own : performance.now() - started
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** One expensive run for several figures: the first that asks pays. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => (result ??= work())
}

export interface ChildRun {
  readonly stdout: string
  readonly milliseconds: number
  /** Peak resident memory of the child alone. */
  readonly peakMiB: number
}

/**
 * Runs a Node program to its end: `runNode(['bin/stackloom', '--help'])`.
 *
 * The peak is the kernel's high-water mark of the child's own memory. `maxRSS` of `getrusage` would not do: it starts with
 * the memory of the process that spawned the child.
 */
export async function runNode(
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string } = {},
): Promise<ChildRun> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  const peakFile = path.join(folder, 'peak')
  const note = path.join(import.meta.dirname, 'note-peak.mjs')
  try {
    const started = performance.now()
    const stdout = await runProgram(process.execPath, ['--import', note, ...args], {
      input: options.stdin ?? '',
      env: { ...process.env, ...options.env, STACKLOOM_PEAK_FILE: peakFile },
    })
    const milliseconds = performance.now() - started
    return { stdout, milliseconds, peakMiB: Number(readFileSync(peakFile, 'utf8')) / 1024 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs any program to its end, for the side that needs no memory figure. Its failure is the bench's failure. */
export function runProgram(
  program: string,
  args: readonly string[],
  { input = '', env = process.env }: { readonly input?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(stdout)
      else reject(new Error(`${program} ${args.join(' ')} ended with ${code}: ${stderr.slice(-2000)}`))
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}
