/** Defines actors: controllers that simulate programs which cannot run in a sandbox. They follow documented behaviour. */
import type { Connection } from '../../kube/connect.ts'
import type { Runtime } from '../../kube/runtime.ts'
import type { ConfigureNode } from '../nodes/configure-node.ts'
import type { OpenStackClouds } from '../openstack/clouds.ts'

export interface ActorDeps {
  readonly runtime: Runtime
  readonly transport: Connection['transport']
  /** How long one step of the simulated program takes. */
  readonly stepMs: number
  /** Configures the interfaces of a node, where nodes have some. */
  readonly configureNode?: ConfigureNode | undefined
  /** Whether cert-manager runs, so that authorities come from it. */
  readonly certManager?: boolean | undefined
  /** Runs OpenStack's services, where they run. */
  readonly openstack?: OpenStackClouds | undefined
}

export interface Actor {
  /** The simulated program, in one line. */
  readonly simulates: string
  /** Where the behaviour is documented. */
  readonly source: string
  /** Actors that must run too. */
  readonly needs: readonly string[]
  readonly addControllers: (deps: ActorDeps) => void
}

/** The name of an annotation that controls an actor, for example to simulate a failure. */
export const annotation = (name: string): string => `sandbox.stackloom.dev/${name}`
