/** Builds the context of sandbox commands from this process. */
import { runProcess } from '../../exec/process.ts'
import type { SandboxContext } from '../../sandbox/sandbox.ts'
import { type Notify, resolveSandboxPaths, selfCommand } from '../../sandbox/sandbox-context.ts'
import type { Io } from '../io.ts'

export function sandboxContext(io: Io, say: Notify = () => undefined): SandboxContext {
  return {
    paths: resolveSandboxPaths(io.env),
    env: io.env,
    exec: runProcess,
    notify: say,
    signal: io.stop,
    self: selfCommand(),
    now: Date.now,
    ownCrds: async (set) => (await import('../../sandbox/crds/own-crds.ts')).ownCrds[set],
  }
}

export const DEFAULT_NAME = 'default'
