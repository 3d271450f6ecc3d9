/**
 * Collects the clouds of a snapshot: for each namespace and network, what NetConfig, attachments and pools say of it.
 *
 * Knows no site file.
 */

import { asInteger, asList, asRecord, asString, asStrings } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { poolName } from '../../api/pool-name.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { cidrContains, parseCidr } from '../../net/cidr.ts'
import { parseRange } from '../../net/range.ts'
import { type Attachment, importAttachment } from './attachment.ts'
import { badAttachment, poolForeign, valueLeftOut } from './findings/existing.ts'
import { readNetConfigSubnet, type SubnetFacts } from './network-facts.ts'

/** One network of one namespace, filled step by step. */
export interface ObservedNetwork {
  readonly subnets: SubnetFacts[]
  readonly vips: string[]
  attachment: Attachment | undefined
  mtu: number | undefined
  dnsDomain: string | undefined
  vlan: number | undefined
  announcedOn: string | undefined
}

export type ObservedClouds = ReadonlyMap<string, ReadonlyMap<string, ObservedNetwork>>

export function collectClouds(
  index: SnapshotIndex,
  namespaces: readonly string[] | undefined,
  findings: Finding[],
): ObservedClouds {
  const clouds = new Map<string, Map<string, ObservedNetwork>>()
  const network = (namespace: string, name: string): ObservedNetwork => {
    const networks = clouds.get(namespace) ?? new Map<string, ObservedNetwork>()
    clouds.set(namespace, networks)
    const seen = networks.get(name) ?? {
      subnets: [],
      vips: [],
      attachment: undefined,
      mtu: undefined,
      dnsDomain: undefined,
      vlan: undefined,
      announcedOn: undefined,
    }
    networks.set(name, seen)
    return seen
  }
  for (const netConfig of index.all('network.openstack.org/NetConfig')) {
    const { namespace = '' } = netConfig.metadata
    for (const declared of asList(asRecord(netConfig['spec'])['networks']).map(asRecord)) {
      const name = asString(declared['name'])?.toLowerCase()
      if (name === undefined) continue
      const seen = network(namespace, name)
      const [vlan] = asList(declared['subnets']).flatMap((subnet) => asInteger(asRecord(subnet)['vlan']) ?? [])
      seen.vlan = vlan
      seen.mtu = asInteger(declared['mtu'])
      seen.dnsDomain = asString(declared['dnsDomain'])
      seen.subnets.push(...asList(declared['subnets']).flatMap((subnet) => readNetConfigSubnet(subnet, vlan) ?? []))
    }
  }
  for (const nad of index.all('k8s.cni.cncf.io/NetworkAttachmentDefinition')) {
    const { namespace = '', name } = nad.metadata
    const { read, unread } = importAttachment(asRecord(nad['spec'])['config'])
    // Any namespace may have attachments; a cloud has a NetConfig, or attachments that give out addresses.
    if (!clouds.has(namespace) && (typeof read === 'string' || read.pods.length === 0)) continue
    const reason = typeof read === 'string' ? read : read.problem
    if (reason) {
      const where = { apiVersion: nad.apiVersion, kind: nad.kind, namespace, name }
      findings.push(finding(badAttachment, { cloud: namespace, network: name, reason }, { where }))
    }
    if (!namespaces || namespaces.includes(namespace)) findings.push(...reportUnread(nad, unread))
    if (typeof read !== 'string') network(namespace, name).attachment = read
  }
  const wanted = [...clouds].filter(([namespace]) => !namespaces || namespaces.includes(namespace))
  return new Map(wanted.sort(([a], [b]) => a.localeCompare(b)))
}

/** Fields of an attachment's configuration that a site file does not have. */
function reportUnread({ apiVersion, kind, metadata }: KubeObject, unread: readonly string[]): readonly Finding[] {
  if (unread.length === 0) return []
  const { namespace = '', name } = metadata
  const what = `NetworkAttachmentDefinition ${name}: spec.config: ${unread.join(', ')}`
  const facts = { what, why: 'the site file has no field for it' }
  return [finding(valueLeftOut, facts, { where: { apiVersion, kind, namespace, name } })]
}

export function collectPools(index: SnapshotIndex, clouds: ObservedClouds, findings: Finding[]): readonly KubeObject[] {
  const homes = [...clouds].flatMap(([namespace, networks]) =>
    [...networks].map(([network, { subnets, attachment }]) => ({
      namespace,
      network,
      cidrs: [...subnets.map(({ cidr }) => cidr), ...(attachment?.pods ?? []).map(({ cidr }) => cidr)],
    })),
  )
  const interfacesOfPool = new Map(
    index.all('metallb.io/L2Advertisement').flatMap((advertisement) => {
      const { ipAddressPools, interfaces } = asRecord(advertisement['spec'])
      return asStrings(ipAddressPools).map((pool) => [pool, asStrings(interfaces)[0]] as const)
    }),
  )
  const matched = matchPools(index.all('metallb.io/IPAddressPool'), homes, findings)
  for (const { pool, namespace, network, addresses } of matched) {
    const seen = clouds.get(namespace)?.get(network)
    seen?.vips.push(...addresses)
    if (seen) seen.announcedOn = interfacesOfPool.get(pool.metadata.name)
  }
  return matched.map(({ pool }) => pool)
}

export interface PoolCandidate {
  readonly namespace: string
  readonly network: string
  readonly cidrs: readonly string[]
}

export interface MatchedPool {
  readonly pool: KubeObject
  readonly namespace: string
  readonly network: string
  readonly addresses: readonly string[]
}

/** Matches pools to networks by their addresses; by name where no subnet is known. */
function matchPools(
  pools: readonly KubeObject[],
  homes: readonly PoolCandidate[],
  findings: Finding[],
): readonly MatchedPool[] {
  return pools.flatMap((pool) => {
    const { name, namespace: poolNamespace = '' } = pool.metadata
    const spec = asRecord(pool['spec'])
    const addresses = asStrings(spec['addresses'])
    const scope = asStrings(asRecord(spec['serviceAllocation'])['namespaces'])
    const open = homes.filter(({ namespace }) => scope.length === 0 || scope.includes(namespace))
    const home =
      open.find(({ cidrs }) => cidrs.some((cidr) => holds(cidr, addresses))) ??
      open.find(({ namespace, network }) => [poolName(namespace, network), `${network}-${namespace}`].includes(name)) ??
      open.find(({ network }) => network === name)
    if (home) return [{ pool, namespace: home.namespace, network: home.network, addresses }]
    const where = { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', namespace: poolNamespace, name }
    const why =
      open.length === 0
        ? `it is for ${scope.join(', ')}, which is no cloud here`
        : 'none of its addresses is in a subnet of a cloud, and its name is not that of a network'
    findings.push(finding(poolForeign, { pool: name, why }, { where }))
    return []
  })
}

function holds(cidr: string, addresses: readonly string[]): boolean {
  const network = parseCidr(cidr)
  return addresses.some((text) => {
    const range = parseRange(text)
    return network && range && cidrContains(network, { family: range.family, value: range.first })
  })
}
