/** Lists all checks in the order of the report. */

import { capacity } from './capacity.ts'
import { ipAddressPools, namespaceScoping } from './checks/address-pools.ts'
import { l2Advertisements } from './checks/advertisements.ts'
import type { Check } from './checks/check-definition.ts'
import { dnsNames } from './checks/dns-names.ts'
import { keystoneEndpoints } from './checks/keystone-endpoints.ts'
import { leftovers } from './checks/leftovers.ts'
import { attachments, netConfig, reservations, whereaboutsSpans } from './checks/network-allocations.ts'
import { nodePolicies } from './checks/node-policies.ts'
import { nodeTuning } from './checks/node-tuning.ts'
import { podNetworks } from './checks/pod-networks.ts'
import { foreignHolders, serviceAllocation, sharingKeys } from './checks/service-addresses.ts'

export const checks: readonly Check[] = [
  capacity,
  nodePolicies,
  nodeTuning,
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

/** Checks of the last stage of `up`. */
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
