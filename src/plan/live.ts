/**
 * What a cluster really holds and no cloud of the site owns, as entries of the ledger.
 *
 * Pure, over a snapshot. What belongs to the site's own clouds is left out: the plan speaks for it.
 */
import { identityOf, type KubeObject } from '../api/object.ts'
import { indexSnapshot, type Snapshot } from '../api/snapshot.ts'
import { parseAddress } from '../net/address.ts'
import { parseRange, type Range, single } from '../net/range.ts'
import { readAttachment } from '../site/import/attachment.ts'
import { subnetFacts } from '../site/import/netconfig-facts.ts'
import type { Site } from '../site/site.ts'
import { listOf, recordOf, textOf, textsOf } from '../yaml/loose.ts'
import type { LedgerEntry } from './ledger.ts'

export const liveKinds = [
  { apiVersion: 'v1', kind: 'Node' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' },
  { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' },
  { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' },
  { apiVersion: 'network.openstack.org/v1beta1', kind: 'NetConfig' },
  { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool' },
] as const

export function liveEntries(snapshot: Snapshot, site: Site): readonly LedgerEntry[] {
  const index = indexSnapshot(snapshot)
  const namespaces = new Set(site.clouds.map(({ namespace }) => namespace))
  const pools = new Set(
    site.clouds.flatMap(({ namespace, networks }) => networks.map(({ name }) => `${namespace}-${name}`)),
  )
  const foreign = (groupKind: string): readonly KubeObject[] =>
    index
      .all(groupKind)
      .filter(({ metadata }) => !namespaces.has(metadata.namespace ?? '') && !isOurs(metadata))
  return [
    ...foreign('metallb.io/IPAddressPool')
      .filter(({ metadata }) => !pools.has(metadata.name))
      .flatMap((pool) => entries(pool, textsOf(recordOf(pool['spec'])['addresses']))),
    ...foreign('Service').flatMap((service) => entries(service, ingressOf(service))),
    ...foreign('k8s.cni.cncf.io/NetworkAttachmentDefinition').flatMap((nad) => entries(nad, podRanges(nad))),
    ...foreign('network.openstack.org/NetConfig').flatMap((config) => entries(config, hostRanges(config))),
    ...foreign('nmstate.io/NodeNetworkConfigurationPolicy').flatMap((policy) =>
      entries(policy, nodeAddresses(policy)),
    ),
    ...index.all('Node').flatMap((node) => entries(node, internalAddresses(node))),
    ...index.all('whereabouts.cni.cncf.io/IPPool').flatMap((pool) => podEntries(pool, namespaces)),
  ]
}

function isOurs({ labels }: KubeObject['metadata']): boolean {
  return labels?.['app.kubernetes.io/managed-by'] === 'stackloom'
}

function entries(object: KubeObject, texts: readonly string[]): readonly LedgerEntry[] {
  return texts.flatMap((text) => {
    const range = parseRange(text)
    return range ? [entry(range, identityOf(object))] : []
  })
}

function entry(range: Range, owner: string): LedgerEntry {
  return { ...range, owner, role: 'live' }
}

function ingressOf(service: KubeObject): readonly string[] {
  const ingress = listOf(recordOf(recordOf(service['status'])['loadBalancer'])['ingress'])
  return ingress.flatMap((one) => textOf(recordOf(one)['ip']) ?? [])
}

function podRanges(nad: KubeObject): readonly string[] {
  const read = readAttachment(recordOf(nad['spec'])['config'])
  return typeof read === 'string' ? [] : read.pods.map(({ span }) => span)
}

function hostRanges(config: KubeObject): readonly string[] {
  const networks = listOf(recordOf(config['spec'])['networks']).map(recordOf)
  const subnets = networks.flatMap((network) => listOf(network['subnets']))
  return subnets.flatMap((subnet) => subnetFacts(subnet, undefined)?.hosts ?? [])
}

function nodeAddresses(policy: KubeObject): readonly string[] {
  const desired = recordOf(recordOf(policy['spec'])['desiredState'])
  return listOf(desired['interfaces'])
    .map(recordOf)
    .flatMap((one) => [recordOf(one['ipv4']), recordOf(one['ipv6'])])
    .flatMap((family) => listOf(family['address']))
    .flatMap((address) => textOf(recordOf(address)['ip']) ?? [])
}

function internalAddresses(node: KubeObject): readonly string[] {
  return listOf(recordOf(node['status'])['addresses'])
    .map(recordOf)
    .filter((one) => one['type'] === 'InternalIP')
    .flatMap((one) => textOf(one['address']) ?? [])
}

/** Addresses that pods of other namespaces have: the pool's first address plus the offset that is the key. */
function podEntries(pool: KubeObject, namespaces: ReadonlySet<string>): readonly LedgerEntry[] {
  const spec = recordOf(pool['spec'])
  const [base = ''] = (textOf(spec['range']) ?? '').split('/')
  const first = parseAddress(base)
  if (!first) return []
  return Object.entries(recordOf(spec['allocations'])).flatMap(([offset, allocation]) => {
    const pod = textOf(recordOf(allocation)['podref']) ?? ''
    const [namespace = ''] = pod.split('/')
    if (!/^\d+$/.test(offset) || namespaces.has(namespace)) return []
    const range = single({ family: first.family, value: first.value + BigInt(offset) })
    return [entry(range, `${identityOf(pool)} (pod ${pod})`)]
  })
}
