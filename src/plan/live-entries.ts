/**
 * Lists what a cluster holds and no cloud of the site owns, as entries of the ledger.
 *
 * Pure, over a snapshot. Objects of the site's own clouds are left out: the plan has their addresses.
 */

import { asList, asRecord, asString, asStrings } from '../api/json.ts'
import { type KubeObject, objectIdentity } from '../api/object.ts'
import { isManagedByStackloom } from '../api/ownership.ts'
import { poolName } from '../api/pool-name.ts'
import { indexSnapshot, type Snapshot } from '../api/snapshot.ts'
import { parseAddress } from '../net/address.ts'
import { parseRange, type Range, singleAddressRange } from '../net/range.ts'
import { readAttachment } from '../site/import/attachment.ts'
import { readNetConfigSubnet } from '../site/import/network-facts.ts'
import type { Site } from '../site/site.ts'
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
    site.clouds.flatMap(({ namespace, networks }) => networks.map(({ name }) => poolName(namespace, name))),
  )
  const foreign = (groupKind: string): readonly KubeObject[] =>
    index
      .all(groupKind)
      .filter(({ metadata }) => !namespaces.has(metadata.namespace ?? '') && !isManagedByStackloom({ metadata }))
  return [
    ...foreign('metallb.io/IPAddressPool')
      .filter(({ metadata }) => !pools.has(metadata.name))
      .flatMap((pool) => entries(pool, asStrings(asRecord(pool['spec'])['addresses']))),
    ...foreign('Service').flatMap((service) => entries(service, ingressAddresses(service))),
    ...foreign('k8s.cni.cncf.io/NetworkAttachmentDefinition').flatMap((nad) => entries(nad, podRanges(nad))),
    ...foreign('network.openstack.org/NetConfig').flatMap((config) => entries(config, hostRanges(config))),
    ...foreign('nmstate.io/NodeNetworkConfigurationPolicy').flatMap((policy) => entries(policy, nodeAddresses(policy))),
    ...index.all('Node').flatMap((node) => entries(node, internalAddresses(node))),
    ...index.all('whereabouts.cni.cncf.io/IPPool').flatMap((pool) => podEntries(pool, namespaces)),
  ]
}

function entries(object: KubeObject, texts: readonly string[]): readonly LedgerEntry[] {
  return texts.flatMap((text) => {
    const range = parseRange(text)
    return range ? [entry(range, objectIdentity(object))] : []
  })
}

function entry(range: Range, owner: string): LedgerEntry {
  return { ...range, owner, role: 'live' }
}

function ingressAddresses(service: KubeObject): readonly string[] {
  const ingress = asList(asRecord(asRecord(service['status'])['loadBalancer'])['ingress'])
  return ingress.flatMap((point) => asString(asRecord(point)['ip']) ?? [])
}

function podRanges(nad: KubeObject): readonly string[] {
  const read = readAttachment(asRecord(nad['spec'])['config'])
  return typeof read === 'string' ? [] : read.pods.map(({ span }) => span)
}

function hostRanges(config: KubeObject): readonly string[] {
  const networks = asList(asRecord(config['spec'])['networks']).map(asRecord)
  const subnets = networks.flatMap((network) => asList(network['subnets']))
  return subnets.flatMap((subnet) => readNetConfigSubnet(subnet, undefined)?.hosts ?? [])
}

function nodeAddresses(policy: KubeObject): readonly string[] {
  const desired = asRecord(asRecord(policy['spec'])['desiredState'])
  return asList(desired['interfaces'])
    .map(asRecord)
    .flatMap((networkInterface) => [asRecord(networkInterface['ipv4']), asRecord(networkInterface['ipv6'])])
    .flatMap((family) => asList(family['address']))
    .flatMap((address) => asString(asRecord(address)['ip']) ?? [])
}

function internalAddresses(node: KubeObject): readonly string[] {
  return asList(asRecord(node['status'])['addresses'])
    .map(asRecord)
    .filter((address) => address['type'] === 'InternalIP')
    .flatMap((address) => asString(address['address']) ?? [])
}

/** Addresses that pods of other namespaces have: the pool's first address plus the offset that is the key. */
function podEntries(pool: KubeObject, namespaces: ReadonlySet<string>): readonly LedgerEntry[] {
  const spec = asRecord(pool['spec'])
  const [base = ''] = (asString(spec['range']) ?? '').split('/')
  const first = parseAddress(base)
  if (!first) return []
  return Object.entries(asRecord(spec['allocations'])).flatMap(([offset, allocation]) => {
    const pod = asString(asRecord(allocation)['podref']) ?? ''
    const [namespace = ''] = pod.split('/')
    if (!/^\d+$/.test(offset) || namespaces.has(namespace)) return []
    const range = singleAddressRange({ family: first.family, value: first.value + BigInt(offset) })
    return [entry(range, `${objectIdentity(pool)} (pod ${pod})`)]
  })
}
