/** Who keeps a finalizer's promise: the controller behind its name. */
import type { KubeObject } from '../../api/object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import type { ClusterState } from '../cluster-state.ts'

export interface FinalizerOwner {
  readonly owner: string
  readonly alive: 'gone' | 'there' | 'unknown'
}

/** Names that do not say it themselves. */
const knownOwners: readonly (readonly [RegExp, string])[] = [
  [/^kubernetes\.io\/pv/, 'the storage controller of Kubernetes'],
  [/^foregroundDeletion$|^orphan$/, 'the garbage collector of Kubernetes'],
  [/^service\.kubernetes\.io\/load-balancer/, 'the load balancer'],
  [/rabbitmq\.com/, 'rabbitmq-cluster-operator'],
  [/metal3\.io/, 'baremetal-operator'],
  [/^openstack\.org\/(ipset|netconfig|dnsmasq|dnsdata|reservation|memcached|redis|transporturl)/i, 'infra-operator'],
  [/^openstack\.org\/openstack(baremetal|provision)/i, 'openstack-baremetal-operator'],
  [/^openstack\.org\/openstack/i, 'openstack-operator'],
]

/** By the finalizer's name, by upstream's habit, or by the group of the object: `keystone.openstack.org` is keystone's. */
export function findFinalizerOwner(finalizer: string, object: KubeObject, patient: ClusterState): FinalizerOwner {
  const owner =
    knownOwners.find(([pattern]) => pattern.test(finalizer))?.[1] ??
    operatorByGroup(object) ??
    finalizer.split('/')[0] ??
    finalizer
  return { owner, alive: operatorState(owner, patient) }
}

function operatorByGroup(object: KubeObject): string | undefined {
  const group = formatGroupKind(object).split('/')[0] ?? ''
  const service = /^([a-z]+)\.openstack\.org$/.exec(group)?.[1]
  return service === undefined ? undefined : `${service}-operator`
}

function operatorState(owner: string, patient: ClusterState): FinalizerOwner['alive'] {
  if (!owner.endsWith('-operator') || !patient.knows('apps/Deployment')) return 'unknown'
  const runs = patient
    .all('apps/Deployment')
    .some(({ metadata }) => metadata.name === owner || metadata.name.startsWith(`${owner}-controller-manager`))
  return runs ? 'there' : 'gone'
}
