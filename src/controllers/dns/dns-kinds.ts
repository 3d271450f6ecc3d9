/** The kinds, labels and names that the DNS controllers work with, as upstream has them. */
import { networkVersion } from '../../api/netconfig.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'

export const dnsMasqs = { apiVersion: networkVersion, kind: 'DNSMasq' } as const
export const dnsDatas = { apiVersion: networkVersion, kind: 'DNSData' } as const
export const topologies = { apiVersion: 'topology.openstack.org/v1beta1', kind: 'Topology' } as const
export const configMaps = { apiVersion: 'v1', kind: 'ConfigMap' } as const
export const services = { apiVersion: 'v1', kind: 'Service' } as const
export const pods = { apiVersion: 'v1', kind: 'Pod' } as const
export const serviceAccounts = { apiVersion: 'v1', kind: 'ServiceAccount' } as const
export const deployments = { apiVersion: 'apps/v1', kind: 'Deployment' } as const
export const roles = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' } as const
export const roleBindings = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' } as const

export const FIELD_MANAGER = 'stackloom-dns'

/** A ConfigMap with this label holds hosts, for the DNSMasq whose value is the same. */
export const HOSTS_LABEL = 'dnsmasqhosts'
/** On everything that belongs to one DNSMasq or DNSData: its name. */
export const NAME_LABEL = 'dnsmasq.openstack.org/name'
/** On the parts in which a DNSMasq's hosts reach its pods. */
export const PART_LABEL = 'dnsmasq.stackloom.dev/part'
/** On a LoadBalancer Service: the names under which it is registered. */
export const HOSTNAME_ANNOTATION = 'dnsmasq.network.openstack.org/hostname'
/** On an IPSet: register its addresses. */
export const DNS_ANNOTATION = 'stackloom.dev/dns'
/** What upstream's controllers put on objects, and ours take off. */
export const UPSTREAM_FINALIZERS: readonly string[] = ['openstack.org/dnsmasq', 'openstack.org/dnsdata']

export function ownerLabels({ metadata }: KubeObject): Readonly<Record<string, string>> {
  const { name, namespace = '', uid = '' } = metadata
  return {
    'dnsmasq.openstack.org/uid': uid,
    'dnsmasq.openstack.org/namespace': namespace,
    [NAME_LABEL]: name,
  }
}

export function controllerReference({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  const { name, uid = '' } = metadata
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

export function isOwnedBy({ metadata }: KubeObject, owner: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some((ownerReference) => ownerReference.uid === owner.metadata.uid)
}

export function findController({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find((ownerReference) => ownerReference.controller)
}

/** The object of this kind that controls another one, as the key of its look. */
export function mapToOwner(kind: string): (object: KubeObject) => readonly string[] {
  return (object) => {
    const owner = findController(object)
    return owner?.kind === kind ? [`${object.metadata.namespace}/${owner.name}`] : []
  }
}

/** The value by which hosts and servers find each other. */
export function selectorValue(spec: { readonly dnsDataLabelSelectorValue?: string | undefined }): string {
  return (spec.dnsDataLabelSelectorValue || 'dnsdata').toLowerCase()
}
