/** Says what `make test` runs of what `make soak` runs: few repetitions, and not the tests that take minutes each. */
import type { TestContext } from 'vitest'

export const SOAK_ONLY = 'takes minutes: make soak runs it'

export function isSoak(): boolean {
  return Boolean(process.env['STACKLOOM_SOAK'])
}

export function count(settings: { readonly test: number; readonly soak: number }): number {
  return isSoak() ? settings.soak : settings.test
}

export function requireSoak(context: Pick<TestContext, 'skip'>): void {
  if (!isSoak()) context.skip(SOAK_ONLY)
}
