/** Evaluates the readiness of any object: existence first, then deletion, then the rule of its kind. */
import { type GroupVersionKind, type KubeObject, objectKey } from '../../api/object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { claimReadiness, crdReadiness, namespaceReadiness, tunedReadiness, webhookReadiness } from './cluster.ts'
import { genericReadiness, readBackReadiness, readyCondition } from './conditions.ts'
import { serviceReadiness } from './load-balancer.ts'
import { policyReadiness } from './node-policy.ts'
import { csvReadiness, subscriptionReadiness } from './olm.ts'
import { controlPlaneReadiness, dataPlaneDeploymentReadiness, nodeSetReadiness, versionReadiness } from './openstack.ts'
import { podReadiness } from './pods.ts'
import { applyRule, progressing, type Readiness, type ReadinessContext, type ReadinessRule } from './verdict.ts'
import { daemonSetReadiness, deploymentReadiness, jobReadiness, statefulSetReadiness } from './workloads.ts'

export const readinessRules: Readonly<Record<string, ReadinessRule>> = {
  Namespace: namespaceReadiness,
  Pod: podReadiness,
  PersistentVolumeClaim: claimReadiness,
  Service: serviceReadiness,
  'apps/DaemonSet': daemonSetReadiness,
  'apps/Deployment': deploymentReadiness,
  'apps/StatefulSet': statefulSetReadiness,
  'batch/Job': jobReadiness,
  'apiextensions.k8s.io/CustomResourceDefinition': crdReadiness,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhookReadiness,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhookReadiness,
  'operators.coreos.com/ClusterServiceVersion': csvReadiness,
  'operators.coreos.com/Subscription': subscriptionReadiness,
  'nmstate.io/NodeNetworkConfigurationPolicy': policyReadiness,
  'tuned.openshift.io/Tuned': tunedReadiness,
  'metallb.io/BGPAdvertisement': readBackReadiness,
  'metallb.io/BGPPeer': readBackReadiness,
  'metallb.io/IPAddressPool': readBackReadiness,
  'metallb.io/L2Advertisement': readBackReadiness,
  'k8s.cni.cncf.io/NetworkAttachmentDefinition': readBackReadiness,
  'network.openstack.org/NetConfig': readBackReadiness,
  'backup.openstack.org/OpenStackBackupConfig': readyCondition,
  'operator.openstack.org/OpenStack': readyCondition,
  'core.openstack.org/OpenStackControlPlane': controlPlaneReadiness,
  'core.openstack.org/OpenStackVersion': versionReadiness,
  'dataplane.openstack.org/OpenStackDataPlaneNodeSet': nodeSetReadiness,
  'dataplane.openstack.org/OpenStackDataPlaneDeployment': dataPlaneDeploymentReadiness,
}

export interface ObjectName extends GroupVersionKind {
  readonly name: string
  readonly namespace?: string
}

/** Readiness of an object that should exist. */
export function objectReadiness(desired: ObjectName, context: ReadinessContext): Readiness {
  const groupKind = formatGroupKind(desired)
  const unread = context.around.unread(groupKind)
  const name = `${desired.kind} ${objectKey(desired)}`
  if (unread !== undefined) return progressing(`${name}, which cannot be read: ${unread}`)
  const live = context.around.get(groupKind, desired.name, desired.namespace)
  return live ? liveReadiness(live, context) : progressing(`${name} to exist`)
}

export function liveReadiness(live: KubeObject, context: ReadinessContext): Readiness {
  return applyRule(readinessRules[formatGroupKind(live)] ?? genericReadiness, live, context)
}
