/**
 * `make test`: every suite, two at a time, each beside its share of the budget; the last line counts.
 *
 * Dozens of real servers share the machine meanwhile, and a program of somebody else may lose its patience: what fails
 * in a few files is run once more, alone. It must pass then, and is named all the same, because a test that needs
 * a quiet machine has a defect. `make soak` has no second try.
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

const AT_ONCE = 2

/** More failed files than this are no accident. */
const SECOND_TRIES = 3

async function runSuite(suite: Suite, files: readonly string[], soak: boolean): Promise<SuiteResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-suite-'))
  const counts = path.join(folder, 'counts.json')
  const started = Date.now()
  const { output, code } = await vitest(files, {
    STACKLOOM_SUITE_COUNTS: counts,
    ...(soak && { STACKLOOM_SOAK: '1' }),
  })
  const minutes = (Date.now() - started) / 60_000
  const result = readCounts(counts)
  rmSync(folder, { recursive: true, force: true })
  // vitest that ends badly without a failed test (a crash, a lost worker) is a failure all the same.
  const elsewhere = code !== 0 && failuresOf(result) === 0 ? 1 : result.elsewhere
  if (code !== 0) process.stdout.write(output)
  return { suite, minutes, ...result, elsewhere }
}

function failuresOf({ files, elsewhere }: SuiteCounts): number {
  return files.reduce((total, one) => total + one.failed, elsewhere)
}

function readCounts(file: string): SuiteCounts {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SuiteCounts
  } catch {
    return { files: [], elsewhere: 1 }
  }
}

function vitest(files: readonly string[], env: Record<string, string>): Promise<{ output: string; code: number }> {
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
  const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'))
  const tests = ['src', 'tools', 'test']
    .flatMap((folder) => filesBelow('.', folder))
    .filter((file) => file.endsWith('.test.ts'))
  const queue = suites
    .filter((suite) => wanted.length === 0 || wanted.includes(suite.name.replaceAll(' ', '-')))
    .map((suite) => ({ suite, files: tests.filter((file) => findSuite(file) === suite) }))
    .filter(({ files }) => files.length > 0)
  const results: SuiteResult[] = []
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      console.log(`${next.suite.name}: ${next.files.length} files …`)
      const result = await runSuite(next.suite, next.files, soak)
      results.push(result)
      console.log(line(result, soak))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  report(soak ? results : await triedAgain(results), soak)
}

/** The results, with the second count of what failed beside others and passed alone. */
async function triedAgain(results: readonly SuiteResult[]): Promise<readonly SuiteResult[]> {
  const failed = results.flatMap((result) => result.files.filter(isFailed))
  if (failed.length > SECOND_TRIES) return results
  const settled: SuiteResult[] = []
  for (const result of results) settled.push(await withSecondTries(result))
  return settled
}

async function withSecondTries(result: SuiteResult): Promise<SuiteResult> {
  const failed = result.files.filter(isFailed).map(({ file }) => file)
  if (failed.length === 0) return result
  console.log(`once more, alone: ${failed.join(', ')} …`)
  const second = await runSuite(result.suite, failed, false)
  if (failuresOf(second) > 0) return result
  for (const file of failed) console.log(`UNSTEADY: ${file} failed beside others and passed alone`)
  return { ...result, files: [...result.files.filter((file) => !isFailed(file)), ...second.files] }
}

function isFailed({ failed }: FileCounts): boolean {
  return failed > 0
}

function line(result: SuiteResult, soak: boolean): string {
  const { suite, minutes, files } = result
  const passed = files.reduce((total, one) => total + one.passed, 0)
  const skipped = files.reduce((total, one) => total + one.skipped.length, 0)
  const over = !soak && minutes > suite.budgetMinutes ? '  OVER ITS SHARE' : ''
  return `${suite.name}: ${passed} passed, ${failuresOf(result)} failed, ${skipped} skipped in ${minutes.toFixed(1)} min (share ${suite.budgetMinutes} min)${over}`
}

function report(results: readonly SuiteResult[], soak: boolean): void {
  const files = results.flatMap((result) => result.files)
  const skipped = files.flatMap((file) => file.skipped)
  for (const one of skipped) console.log(`skipped: ${one.name}: ${one.reason || 'NO REASON GIVEN'}`)
  console.log('')
  for (const result of results) console.log(line(result, soak))
  const passed = files.reduce((total, one) => total + one.passed, 0)
  // A skip without a reason hides something: it counts as a failure.
  const unexplained = skipped.filter((one) => !one.reason).length
  const failed = results.reduce((total, one) => total + failuresOf(one), unexplained)
  console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`)
  process.exitCode = failed > 0 || results.length === 0 ? 1 : 0
}

await main()
