/** The order within a stage: what others live in, or are checked by, is applied first. */
import type { KubeObject } from '../api/object.ts'

const ranks: readonly (readonly string[])[] = [
  ['Namespace'],
  [
    'CatalogSource',
    'OperatorGroup',
    'ConfigMap',
    'Secret',
    'BFDProfile',
    'OpenStackVersion',
    'OpenStackDataPlaneService',
  ],
  ['Subscription', 'IPAddressPool', 'BGPPeer', 'ValidatingAdmissionPolicy', 'OpenStackDataPlaneNodeSet'],
]

export function applyRank({ kind }: KubeObject): number {
  const rank = ranks.findIndex((kinds) => kinds.includes(kind))
  return rank < 0 ? ranks.length : rank
}
