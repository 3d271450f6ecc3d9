/** The sandbox as tests and tools use it: the user's own cache, this process's environment, silent. */
import { runProcess } from '../src/exec/process.ts'
import type { SandboxContext } from '../src/sandbox/sandbox.ts'
import { type Notify, resolveSandboxPaths, selfCommand } from '../src/sandbox/sandbox-context.ts'

export function sandboxContext(say: Notify = () => undefined, env = process.env): SandboxContext {
  return {
    paths: resolveSandboxPaths(env),
    env,
    exec: runProcess,
    notify: say,
    self: selfCommand(),
    now: Date.now,
    ownCrds: async (set) => (await import('../src/sandbox/crds/own-crds.ts')).ownCrds[set],
  }
}
