/**
 * What the data plane controllers ask of a running cloud. An interface: how Nova is reached is not theirs to know, and
 * an answer that cannot be had is an answer too.
 */
import type { NovaCell } from '../../api/nova-cell.ts'
import { reasonOf } from '../../errors/failure.ts'

export type Instances =
  | { readonly kind: 'known'; readonly count: number }
  | { readonly kind: 'unknown'; readonly why: string }

export interface Compute {
  readonly namespace: string
  readonly host: string
  readonly cell: NovaCell
}

export interface ControlPlane {
  /** Makes the new host known to its cell. Throws when it could not be done. */
  readonly discoverHosts: (compute: Compute, signal: AbortSignal) => Promise<void>
  /** How many instances are on this host. */
  readonly instancesOn: (compute: Compute, signal: AbortSignal) => Promise<Instances>
  /** Takes the compute out of its cell: its service and what belongs to it. */
  readonly removeCompute: (compute: Compute, signal: AbortSignal) => Promise<void>
}

/** What is asked is answered, one way or the other. */
export async function instancesOn(
  controlPlane: ControlPlane,
  compute: Compute,
  signal: AbortSignal,
): Promise<Instances> {
  try {
    return await controlPlane.instancesOn(compute, signal)
  } catch (error) {
    return { kind: 'unknown', why: reasonOf(error) }
  }
}
