/** What the sandbox needs of this process: folders, environment, clock, and a voice. */
import { runProcess } from '../../exec/process.ts'
import type { Say } from '../../sandbox/notes.ts'
import { placesOf } from '../../sandbox/places.ts'
import type { SandboxContext } from '../../sandbox/sandbox.ts'
import { selfCommand } from '../../sandbox/self.ts'
import type { Io } from '../io.ts'

export function sandboxContext(io: Io, say: Say = () => undefined): SandboxContext {
  return {
    places: placesOf(io.env),
    env: io.env,
    exec: runProcess,
    say,
    signal: io.stop,
    self: selfCommand(),
    now: Date.now,
    ownCrds: async (set) => (await import('../../sandbox/crds/own.ts')).ownCrds[set],
  }
}

export const DEFAULT_NAME = 'default'
