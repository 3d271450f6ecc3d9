/** Skips a test, with the reason, when a program that it needs is not installed. */
import { execFileSync } from 'node:child_process'
import type { TestContext } from 'vitest'

/** The part of a test's context that can skip. */
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
