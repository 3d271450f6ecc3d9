/**
 * Namespaces: one per cloud, privileged as the pods of OpenStack need it, and those of the operators on OpenShift.
 *
 * Only our own labels are named, so that applying leaves what others have set.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { addOwnershipLabels, ownershipLabels } from './labels.ts'

/** Without it OpenShift computes the label `enforce` by itself and takes ours back. */
const NO_SYNC = { 'security.openshift.io/scc.podSecurityLabelSync': 'false' }

export function renderCloudNamespace(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const labels = {
    'pod-security.kubernetes.io/enforce': 'privileged',
    ...(plan.from.cluster.platform === 'openshift' && NO_SYNC),
    ...ownershipLabels({ site: plan.site, cloud: cloud.name }),
  }
  return [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: cloud.namespace, labels } }]
}

export function namespace(plan: Plan, name: string): KubeObject {
  return addOwnershipLabels({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { site: plan.site })
}
