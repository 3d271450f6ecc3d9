/** Derives the audit of addresses for the rules. A kind that was not read counts as unknown, as everywhere in the doctor. */
import { type AddressAudit, auditAddresses } from '../../addresses/audit-addresses.ts'
import type { ClusterState } from '../cluster-state.ts'

export const OVERLAP = 'whereabouts.cni.cncf.io/OverlappingRangeIPReservation'

export function auditCluster(cluster: ClusterState): AddressAudit {
  return auditAddresses(cluster)
}
