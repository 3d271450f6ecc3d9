/** Measures time and memory: medians, ratios against an alternative in the same run, peak memory of a child process. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Work to be timed. It may return milliseconds itself if only a part of it counts. */
export type Work = () => unknown

export interface Comparison {
  readonly ours: Work
  readonly theirs: Work
  /** Measurements per side; odd, so that the median is one of them. */
  readonly rounds?: number
  /** Measurements that do not count, while caches and compilers warm up. */
  readonly warmUp?: number
}

export interface Compared {
  readonly ours: number
  readonly theirs: number
  readonly ratio: number
}

/** Alternates between both sides, so that a busy machine slows both. */
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

/** Our time divided by that of the alternative: the unit `x`. */
export async function ratio(comparison: Comparison): Promise<number> {
  return (await compare(comparison)).ratio
}

export async function timed(work: Work): Promise<number> {
  const started = performance.now()
  const reported = await work()
  return typeof reported === 'number' ? reported : performance.now() - started
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Shares one expensive run between several figures; the arguments are those of the first call. */
export function once<T, A extends readonly unknown[]>(work: (...given: A) => Promise<T>): (...given: A) => Promise<T> {
  let result: Promise<T> | undefined
  return (...given) => (result ??= work(...given))
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
 * The peak is the kernel's high-water mark of the child. `maxRSS` of `getrusage` starts with the memory of the parent.
 */
export async function runNode(
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string } = {},
): Promise<ChildRun> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  const peakFile = path.join(folder, 'peak')
  const recorder = path.join(import.meta.dirname, 'record-peak-memory.mjs')
  try {
    const started = performance.now()
    const stdout = await runProgram(process.execPath, ['--import', recorder, ...args], {
      input: options.stdin ?? '',
      env: { ...process.env, ...options.env, STACKLOOM_PEAK_FILE: peakFile },
    })
    const milliseconds = performance.now() - started
    return { stdout, milliseconds, peakMiB: Number(readFileSync(peakFile, 'utf8')) / 1024 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs any program to its end and returns its stdout; throws if it fails. */
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
