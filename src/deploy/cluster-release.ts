/** Reads the CRDs of a cluster that belong to a release. */
import type { KubeObject } from '../api/object.ts'
import type { KubeReader } from '../kube/client.ts'

/** The CRDs of the kinds in `releaseKinds`. */
const crdNames = [
  'openstackcontrolplanes.core.openstack.org',
  'openstackversions.core.openstack.org',
  'openstackdataplanenodesets.dataplane.openstack.org',
  'openstackdataplanedeployments.dataplane.openstack.org',
  'openstackdataplaneservices.dataplane.openstack.org',
  'netconfigs.network.openstack.org',
  'dnsmasqs.network.openstack.org',
  'dnsdata.network.openstack.org',
  'ipsets.network.openstack.org',
  'reservations.network.openstack.org',
  'bgpconfigurations.network.openstack.org',
  'rabbitmqs.rabbitmq.openstack.org',
  'topologies.topology.openstack.org',
  'openstackbackupconfigs.backup.openstack.org',
]

/** Those that the cluster has; none before the OpenStack operator has created them. */
export async function readReleaseCrds(client: Pick<KubeReader, 'get'>): Promise<readonly KubeObject[]> {
  const found = await Promise.all(
    crdNames.map((name) =>
      client.get({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name }),
    ),
  )
  return found.filter((crd) => crd !== undefined)
}
