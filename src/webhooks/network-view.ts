/**
 * What the webhooks of the network kinds need to know of the cluster. Passed in: they neither read nor remember.
 */
import type { IpSet } from '../api/ipset.ts'
import type { NetConfig } from '../api/netconfig.ts'
import type { Neighbour } from './neighbours.ts'

export interface NetworkView {
  /** As last heard of: fast, and may be behind. */
  readonly knownNetConfigs: (namespace: string) => readonly NetConfig[]
  /** As the API server says now: asked before something is refused. */
  readonly netConfigs: (namespace: string, signal: AbortSignal) => Promise<readonly NetConfig[]>
  readonly ipSets: (namespace: string, signal: AbortSignal) => Promise<readonly IpSet[]>
  /** Who else holds an address on the segment of a subnet, as `namespace/name`. */
  readonly holderOf: (
    netConfig: NetConfig,
    network: string,
    subnet: string,
    address: string,
  ) => string | undefined
  /** Who else hands out addresses that a cloud in this namespace can meet; or why that could not be read. */
  readonly neighbours: (
    namespace: string,
    signal: AbortSignal,
  ) => Promise<readonly Neighbour[] | { readonly problem: string }>
  /** Whether NetConfigs have a field for the service network: those of 2023 have none. */
  readonly hasServiceNetwork: () => Promise<boolean>
}
