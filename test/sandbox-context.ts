/** The sandbox as tests and tools use it: the user's own cache, this process's environment, silent. */
import { runProcess } from '../src/exec/process.ts'
import type { Say } from '../src/sandbox/notes.ts'
import { placesOf } from '../src/sandbox/places.ts'
import type { SandboxContext } from '../src/sandbox/sandbox.ts'
import { selfCommand } from '../src/sandbox/self.ts'

export function sandboxContext(say: Say = () => undefined, env = process.env): SandboxContext {
  return {
    places: placesOf(env),
    env,
    exec: runProcess,
    say,
    self: selfCommand(),
    now: Date.now,
    ownCrds: async (set) => (await import('../src/sandbox/crds/own.ts')).ownCrds[set],
  }
}
