/** Describes tests that need the CRDs of a release, which are no part of the repository: skipped by name without them. */
import { describe, it } from 'vitest'
import { hasRelease } from './sandbox-context.ts'

export function describeWithRelease(release: string, name: string, tests: () => void): void {
  if (hasRelease(release)) describe(name, tests)
  else it(name, (context) => context.skip(`the CRDs of ${release} are not in ../shared/crds`))
}
