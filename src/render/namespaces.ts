/**
 * Namespaces: one per cloud, privileged as the pods of OpenStack need it, and those of the operators on OpenShift.
 *
 * Only our own labels are named, so that applying leaves what others have set.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { labelled } from './labels.ts'

const PRIVILEGED = { 'pod-security.kubernetes.io/enforce': 'privileged' }
/** Without it OpenShift computes the label above by itself and takes ours back. */
const NO_SYNC = { 'security.openshift.io/scc.podSecurityLabelSync': 'false' }

export function renderCloudNamespace(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const labels = { ...PRIVILEGED, ...(plan.from.cluster.platform === 'openshift' && NO_SYNC) }
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: cloud.namespace, labels } }
  return [labelled(object, { site: plan.site, cloud: cloud.name })]
}

export function namespace(plan: Plan, name: string): KubeObject {
  return labelled({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { site: plan.site })
}
