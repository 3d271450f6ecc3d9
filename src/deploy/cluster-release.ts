/** Reads the CRDs of a cluster that belong to a release, and compares documents with them. */
import type { KubeObject } from '../api/object.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { KubeReader } from '../kube/client.ts'
import { matchRelease } from '../plan/release/compare.ts'
import { type FieldPath, findUnknownFields, missingFields } from '../plan/release/fields.ts'
import { type Release, readRelease } from '../plan/release/releases.ts'
import type { RenderedDocument } from '../render/render.ts'
import { refusedByCrd } from './findings/up.ts'

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

/** Every field because of which the cluster would refuse a document; one finding for a field of several clouds. */
export function refusedFields(
  documents: readonly RenderedDocument[],
  planned: Release,
  crds: readonly KubeObject[],
): readonly Finding[] {
  const live = readRelease(crds)
  const match = matchRelease(live)
  const cluster = match ? `${match.exact ? '' : 'nearest to '}${match.release.name}` : 'an unknown release'
  const names = { planned: planned.name ?? 'the CRDs of the plan', cluster }
  const found = new Map<string, Finding>()
  for (const { object } of documents) {
    const { kind, apiVersion } = object
    const schema = live.kinds[kind]
    if (schema?.apiVersion !== apiVersion) continue
    const report = (path: FieldPath, what: 'unknown' | 'missing'): void => {
      const field = ['spec', ...path].join('.')
      found.set(`${kind} ${field}`, finding(refusedByCrd, { kind, field, problem: what, ...names }))
    }
    const spec = object['spec']
    for (const { path } of findUnknownFields(spec, schema.spec)) report(path, 'unknown')
    for (const path of missingFields(spec, schema.spec)) report(path, 'missing')
  }
  return [...found.values()]
}
