/** Every check, in the order in which a person reads them. */
import { l2Advertisements } from './advertisements.ts'
import type { Check } from './check.ts'
import { keystoneEndpoints } from './endpoints.ts'
import { leftovers } from './leftovers.ts'
import { dnsNames } from './names.ts'
import { attachments, netConfig, reservations, whereaboutsSpans } from './networks.ts'
import { nodePolicies } from './nodes.ts'
import { podNetworks } from './pods.ts'
import { ipAddressPools, namespaceScoping } from './pools.ts'
import { room } from './room.ts'
import { foreignHolders, serviceAllocation, sharingKeys } from './services.ts'

export const checks: readonly Check[] = [
  room,
  nodePolicies,
  leftovers,
  ipAddressPools,
  namespaceScoping,
  l2Advertisements,
  serviceAllocation,
  foreignHolders,
  sharingKeys,
  attachments,
  netConfig,
  whereaboutsSpans,
  reservations,
  podNetworks,
  dnsNames,
  keystoneEndpoints,
]

/** What must be true of a cloud the moment it is deployed: the last stage of `up` asks these. */
export const stageChecks: readonly Check[] = [
  ipAddressPools,
  namespaceScoping,
  l2Advertisements,
  serviceAllocation,
  foreignHolders,
  sharingKeys,
  attachments,
  netConfig,
]
