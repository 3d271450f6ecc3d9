/** A vitest reporter that leaves one suite's counts, and the reason of every skip, in a JSON file. */
import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

export interface SuiteCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: readonly { readonly name: string; readonly reason: string }[]
  /** The files to which every failure belongs; undefined where one belongs to none. */
  readonly failedFiles?: readonly string[]
}

export default class SuiteReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const target = process.env['STACKLOOM_SUITE_COUNTS']
    if (!target) return
    let passed = 0
    // A file that cannot be loaded and an error outside any test are failures too.
    let failed = unhandled.length + modules.filter((one) => one.errors().length > 0).length
    const skipped: { name: string; reason: string }[] = []
    for (const test of modules.flatMap((one) => [...one.children.allTests()])) {
      const result = test.result()
      if (result.state === 'passed') passed += 1
      else if (result.state === 'failed') failed += 1
      else skipped.push({ name: test.fullName, reason: (result.state === 'skipped' && result.note) || '' })
    }
    const failedFiles = modules.filter((one) => !one.ok()).map((one) => one.moduleId)
    const counts: SuiteCounts = {
      passed,
      failed,
      skipped,
      ...(unhandled.length === 0 && { failedFiles }),
    }
    writeFileSync(target, JSON.stringify(counts))
  }
}
