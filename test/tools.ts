/** Programs of this machine that a test needs: without one the test is skipped, by name, with the reason. */
import { execFileSync } from 'node:child_process'
import type { TestContext } from 'vitest'

/** What is asked of a test's context: enough to skip. */
type Skippable = Pick<TestContext, 'skip'>

export function requireTool(context: Skippable, tool: string): void {
  if (!hasTool(tool)) context.skip(`${tool} is not installed; \`make setup\` as root installs it`)
}

export function hasTool(tool: string): boolean {
  try {
    execFileSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', tool], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export function requireRoot(context: Skippable): void {
  if (process.getuid?.() !== 0) context.skip('needs root')
}
