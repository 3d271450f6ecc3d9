/** Names the kinds that node networking reads, and the node of a policy. */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { getString } from '../api/raw-object.ts'

export const nodeKinds: readonly GroupVersionKind[] = [
  { apiVersion: 'v1', kind: 'Node' },
  { apiVersion: 'nmstate.io/v1beta1', kind: 'NodeNetworkConfigurationEnactment' },
]

export function selectedNode(policy: KubeObject): string {
  return getString(policy, 'spec', 'nodeSelector', 'kubernetes.io/hostname') ?? 'all'
}
