/**
 * What the data plane controllers ask of a running cloud. An interface: how Nova is reached is not theirs to know, and
 * an answer that cannot be had is an answer too.
 */

import { formatError } from '../../errors/failure.ts'
import type { NovaCell } from '../kinds/nova-cell.ts'

export type InstanceCount =
  | { readonly kind: 'known'; readonly count: number }
  | { readonly kind: 'unknown'; readonly why: string }

export interface ComputeHost {
  readonly namespace: string
  readonly host: string
  readonly cell: NovaCell
}

export interface ControlPlane {
  /** Makes the new host known to its cell. Throws when it could not be done. */
  readonly discoverHosts: (compute: ComputeHost, signal: AbortSignal) => Promise<void>
  /** How many instances are on this host. */
  readonly countInstances: (compute: ComputeHost, signal: AbortSignal) => Promise<InstanceCount>
  /** Takes the compute out of its cell: its service and what belongs to it. */
  readonly removeCompute: (compute: ComputeHost, signal: AbortSignal) => Promise<void>
}

/** What is asked is answered, one way or the other. */
export async function tryCountInstances(
  controlPlane: ControlPlane,
  compute: ComputeHost,
  signal: AbortSignal,
): Promise<InstanceCount> {
  try {
    return await controlPlane.countInstances(compute, signal)
  } catch (error) {
    return { kind: 'unknown', why: formatError(error) }
  }
}
