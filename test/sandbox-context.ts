/** The sandbox context of tests and tools: the user's cache, this process's environment, no output. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { runProcess } from '../src/exec/process.ts'
import { defaultReleaseName } from '../src/plan/release/releases.ts'
import type { SandboxContext } from '../src/sandbox/sandbox.ts'
import { type Notify, resolveSandboxPaths, selfCommand } from '../src/sandbox/sandbox-context.ts'

/** The CRDs of releases, where this machine has them. */
export const RELEASES = path.resolve('../shared/crds')

export function hasRelease(release: string): boolean {
  return existsSync(path.join(RELEASES, release))
}

/** The release whose CRDs the set `today` has on this machine. */
export const TODAY = hasRelease(defaultReleaseName()) ? defaultReleaseName() : '0.6.0'

export function sandboxContext(say: Notify = () => undefined, env = process.env): SandboxContext {
  return {
    paths: { ...resolveSandboxPaths(env), releases: RELEASES },
    env,
    exec: runProcess,
    notify: say,
    // `make test` has built the program, which starts in a quarter of the time.
    self: process.env['STACKLOOM_TEST_BUILT'] ? selfCommand(path.resolve('dist')) : selfCommand(),
    now: Date.now,
    ownCrds: async (set) => (await import('../src/sandbox/crds/own-crds.ts')).ownCrds[set],
  }
}
