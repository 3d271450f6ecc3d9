/** Readiness of any object: existence first, then deletion, then the rule of its kind. */
import { type GroupVersionKind, type KubeObject, keyOf } from '../../api/object.ts'
import { groupKindOf } from '../../api/snapshot.ts'
import { crdReadiness, namespaceReadiness, webhookReadiness } from './cluster.ts'
import { anyObject, readyCondition } from './conditions.ts'
import { judgeBy } from './deletion.ts'
import { policyReadiness } from './nmstate.ts'
import { csvReadiness, subscriptionReadiness } from './olm.ts'
import {
  controlPlaneReadiness,
  dataPlaneDeploymentReadiness,
  nodeSetReadiness,
  versionReadiness,
} from './openstack.ts'
import { podReadiness } from './pods.ts'
import { readBack } from './read-back.ts'
import { serviceReadiness } from './services.ts'
import { claimReadiness } from './storage.ts'
import { progressing, type Readiness, type ReadinessContext, type ReadinessRule } from './verdict.ts'
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
  'metallb.io/BGPAdvertisement': readBack,
  'metallb.io/BGPPeer': readBack,
  'metallb.io/IPAddressPool': readBack,
  'metallb.io/L2Advertisement': readBack,
  'k8s.cni.cncf.io/NetworkAttachmentDefinition': readBack,
  'network.openstack.org/NetConfig': readBack,
  'operator.openstack.org/OpenStack': readyCondition,
  'core.openstack.org/OpenStackControlPlane': controlPlaneReadiness,
  'core.openstack.org/OpenStackVersion': versionReadiness,
  'dataplane.openstack.org/OpenStackDataPlaneNodeSet': nodeSetReadiness,
  'dataplane.openstack.org/OpenStackDataPlaneDeployment': dataPlaneDeploymentReadiness,
}

export interface Named extends GroupVersionKind {
  readonly name: string
  readonly namespace?: string
}

/** Readiness of an object that should exist. */
export function readinessOf(wanted: Named, context: ReadinessContext): Readiness {
  const groupKind = groupKindOf(wanted)
  const unread = context.around.unread(groupKind)
  const who = `${wanted.kind} ${keyOf(wanted)}`
  if (unread !== undefined) return progressing(`${who}, which cannot be read: ${unread}`)
  const live = context.around.get(groupKind, wanted.name, wanted.namespace)
  return live ? readinessOfLive(live, context) : progressing(`${who} to exist`)
}

export function readinessOfLive(live: KubeObject, context: ReadinessContext): Readiness {
  return judgeBy(readinessRules[groupKindOf(live)] ?? anyObject, live, context)
}
