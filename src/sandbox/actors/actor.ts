/**
 * Actors: small controllers that play, in a sandbox, what cannot run there. Each follows documented behaviour and
 * names its source. They read the objects as the real operators would; they neither plan nor render.
 */
import type { Connection } from '../../kube/connect.ts'
import type { Runtime } from '../../kube/runtime.ts'

export interface ActorDeps {
  readonly runtime: Runtime
  readonly transport: Connection['transport']
  /** How long one step of the played program takes. */
  readonly stepMs: number
}

export interface Actor {
  /** Whom it plays, in one line. */
  readonly simulates: string
  /** Where the behaviour is written down. */
  readonly source: string
  /** Actors that must be on the stage, too. */
  readonly needs: readonly string[]
  /** Adds its controllers. */
  readonly addControllers: (stage: ActorDeps) => void
}

/** Annotations by which a person or a test tells an actor to misbehave. */
export const annotation = (name: string): string => `sandbox.stackloom.dev/${name}`
