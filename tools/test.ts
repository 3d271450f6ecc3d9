/**
 * `make test`: runs every suite, two at a time, and prints the counts and times against their budgets.
 *
 * Dozens of real servers share the machine, so a program may time out: a few failed files are run once more, alone.
 * They must pass then and are still reported, because such a test has a defect. `make soak` does not retry.
 *
 *     node --import tsx tools/test.ts [--soak] [SUITE…]     a suite with a space in its name is written with a dash
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { filesBelow } from './files.ts'
import type { FileCounts, SuiteCounts } from './suite-reporter.ts'
import { findSuite, type Suite, suites } from './suites.ts'

interface SuiteResult extends SuiteCounts {
  readonly suite: Suite
  readonly minutes: number
}

const PARALLEL_SUITES = 2

/** More failed files than this are not retried: they are no accident. */
const MAX_RETRIED_FILES = 3

async function runSuite(suite: Suite, files: readonly string[], soak: boolean): Promise<SuiteResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-suite-'))
  const counts = path.join(folder, 'counts.json')
  const started = Date.now()
  const { output, code } = await runVitest(files, {
    STACKLOOM_SUITE_COUNTS: counts,
    STACKLOOM_TEST_BUILT: '1',
    ...(soak && { STACKLOOM_SOAK: '1' }),
    // A suite that is asked for by name builds the programs that only its tests need.
    ...(process.argv.length > 2 && { STACKLOOM_BUILD_ALL: '1' }),
  })
  const minutes = (Date.now() - started) / 60_000
  const result = readCounts(counts)
  rmSync(folder, { recursive: true, force: true })
  // A crash or a lost worker without a failed test is a failure too.
  const otherErrors = code !== 0 && countFailures(result) === 0 ? 1 : result.otherErrors
  if (code !== 0) process.stdout.write(output)
  return { suite, minutes, ...result, otherErrors }
}

function countFailures({ files, otherErrors }: SuiteCounts): number {
  return files.reduce((total, { failed }) => total + failed, otherErrors)
}

function readCounts(file: string): SuiteCounts {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SuiteCounts
  } catch {
    return { files: [], otherErrors: 1 }
  }
}

function runVitest(files: readonly string[], env: Record<string, string>): Promise<{ output: string; code: number }> {
  return new Promise((resolve) => {
    const args = [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=./tools/suite-reporter.ts',
      ...files,
    ]
    const child = spawn(process.execPath, args, {
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('close', (code) => resolve({ output, code: code ?? 1 }))
  })
}

async function main(): Promise<void> {
  const soak = process.argv.includes('--soak')
  const selected = process.argv.slice(2).filter((word) => !word.startsWith('--'))
  const names = suites.map(({ name }) => name.replaceAll(' ', '-'))
  const unknown = selected.filter((name) => !names.includes(name))
  if (unknown.length > 0) throw new Error(`no suite ${unknown.join(', ')}; there are ${names.join(', ')}`)
  const tests = ['src', 'web', 'tools', 'test']
    .flatMap((folder) => filesBelow('.', folder))
    .filter((file) => file.endsWith('.test.ts'))
  const queue = suites
    .filter((suite) => selected.length === 0 || selected.includes(suite.name.replaceAll(' ', '-')))
    .map((suite) => ({ suite, files: tests.filter((file) => findSuite(file) === suite) }))
    .filter(({ files }) => files.length > 0)
  const results: SuiteResult[] = []
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      console.log(`${next.suite.name}: ${next.files.length} files …`)
      const result = await runSuite(next.suite, next.files, soak)
      results.push(result)
      console.log(formatResult(result, soak))
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_SUITES }, worker))
  report(soak ? results : await retryFailedFiles(results), soak)
}

/** Replaces the counts of files that failed next to others and pass alone. */
async function retryFailedFiles(results: readonly SuiteResult[]): Promise<readonly SuiteResult[]> {
  const failed = results.flatMap((result) => result.files.filter(isFailed))
  if (failed.length > MAX_RETRIED_FILES) return results
  const retried: SuiteResult[] = []
  for (const result of results) retried.push(await retrySuite(result))
  return retried
}

async function retrySuite(result: SuiteResult): Promise<SuiteResult> {
  const failed = result.files.filter(isFailed).map(({ file }) => file)
  if (failed.length === 0) return result
  console.log(`retrying alone: ${failed.join(', ')} …`)
  const retry = await runSuite(result.suite, failed, false)
  if (countFailures(retry) > 0) return result
  for (const file of failed) console.log(`UNSTEADY: ${file} failed next to others and passed alone`)
  return { ...result, files: [...result.files.filter((file) => !isFailed(file)), ...retry.files] }
}

function isFailed({ failed }: FileCounts): boolean {
  return failed > 0
}

function formatResult(result: SuiteResult, soak: boolean): string {
  const { suite, minutes, files } = result
  const passed = files.reduce((total, file) => total + file.passed, 0)
  const skipped = files.reduce((total, file) => total + file.skipped.length, 0)
  const over = !soak && minutes > suite.budgetMinutes ? `  OVER BUDGET: ${formatSlowest(files)}` : ''
  return `${suite.name}: ${passed} passed, ${countFailures(result)} failed, ${skipped} skipped in ${minutes.toFixed(1)} min (budget ${suite.budgetMinutes} min)${over}`
}

function formatSlowest(files: readonly FileCounts[]): string {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, 5)
  return slowest.map(({ file, seconds }) => `${path.basename(file, '.test.ts')} ${seconds} s`).join(', ')
}

function report(results: readonly SuiteResult[], soak: boolean): void {
  const files = results.flatMap((result) => result.files)
  const skipped = files.flatMap((file) => file.skipped)
  for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason || 'NO REASON GIVEN'}`)
  console.log('')
  for (const result of results) console.log(formatResult(result, soak))
  const passed = files.reduce((total, file) => total + file.passed, 0)
  // A skip without a reason counts as a failure.
  const unexplained = skipped.filter(({ reason }) => !reason).length
  const failed = results.reduce((total, result) => total + countFailures(result), unexplained)
  console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`)
  process.exitCode = failed > 0 || results.length === 0 ? 1 : 0
}

await main()
