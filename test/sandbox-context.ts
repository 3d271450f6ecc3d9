/** The sandbox context of tests and tools: the user's cache, this process's environment, no output. */
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
