/**
 * What the webhooks of the network kinds need to know of the cluster. Passed in: they neither read nor remember.
 */
import type { IpSet } from '../api/ipset.ts'
import type { NetConfig } from '../api/netconfig.ts'
import type { OtherAllocator } from './other-allocators.ts'

export interface NetworkView {
  /** As last heard of: fast, and may be behind. */
  readonly cachedNetConfigs: (namespace: string) => readonly NetConfig[]
  /** As the API server says now: asked before something is refused. */
  readonly netConfigs: (namespace: string, signal: AbortSignal) => Promise<readonly NetConfig[]>
  readonly ipSets: (namespace: string, signal: AbortSignal) => Promise<readonly IpSet[]>
  /** Who else holds an address on the segment of a subnet, as `namespace/name`. */
  readonly findHolder: (netConfig: NetConfig, network: string, subnet: string, address: string) => string | undefined
  /** Who else hands out addresses that a cloud in this namespace can meet; or why that could not be read. */
  readonly otherAllocators: (
    namespace: string,
    signal: AbortSignal,
  ) => Promise<readonly OtherAllocator[] | { readonly problem: string }>
  /** Whether NetConfigs have a field for the service network: those of 2023 have none. */
  readonly hasServiceNetwork: () => Promise<boolean>
}
