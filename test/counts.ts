/** Says what `make test` runs of what `make soak` runs: few repetitions, and not the tests that take minutes each. */
import type { TestContext } from 'vitest'

export function count(settings: { readonly test: number; readonly soak: number }): number {
  return process.env['STACKLOOM_SOAK'] ? settings.soak : settings.test
}

export function requireSoak(context: Pick<TestContext, 'skip'>): void {
  if (!process.env['STACKLOOM_SOAK']) context.skip('takes minutes: make soak runs it')
}
