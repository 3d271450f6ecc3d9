/** A vitest reporter that writes the counts and seconds of each file and the reason of every skip to a JSON file. */
import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

export interface FileCounts {
  readonly file: string
  readonly passed: number
  readonly failed: number
  readonly skipped: readonly { readonly name: string; readonly reason: string }[]
  readonly seconds: number
}

export interface SuiteCounts {
  readonly files: readonly FileCounts[]
  /** Errors outside any file. */
  readonly otherErrors: number
}

export default class SuiteReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const target = process.env['STACKLOOM_SUITE_COUNTS']
    if (!target) return
    const counts: SuiteCounts = { files: modules.map(countTests), otherErrors: unhandled.length }
    writeFileSync(target, JSON.stringify(counts))
  }
}

function countTests(module: TestModule): FileCounts {
  let passed = 0
  // A file that cannot be loaded and a hook that fails count as failures: the tests behind them are only skipped.
  let failed = [module, ...module.children.allSuites()].filter((suite) => suite.errors().length > 0).length
  const skipped: { name: string; reason: string }[] = []
  for (const test of module.children.allTests()) {
    const result = test.result()
    if (result.state === 'passed') passed += 1
    else if (result.state === 'failed') failed += 1
    else skipped.push({ name: test.fullName, reason: (result.state === 'skipped' && result.note) || '' })
  }
  const { duration, setupDuration, collectDuration } = module.diagnostic()
  const seconds = Math.round((duration + setupDuration + collectDuration) / 1000)
  return { file: module.relativeModuleId, passed, failed, skipped, seconds }
}
