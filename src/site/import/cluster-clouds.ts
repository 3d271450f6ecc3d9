/**
 * The clouds that a snapshot speaks of: namespace by namespace and network by network, what NetConfig, attachments and
 * pools say of each.
 */

import { asInteger, asList, asRecord, asString, asStrings } from '../../api/json.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { type Attachment, readAttachment } from './attachment.ts'
import { matchPools } from './cluster-pools.ts'
import { badAttachment } from './findings/existing.ts'
import { readNetConfigSubnet } from './netconfig-facts.ts'
import type { SubnetFacts } from './network-facts.ts'

/** One network of one namespace, while it is being put together. */
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
    for (const one of asList(asRecord(netConfig['spec'])['networks']).map(asRecord)) {
      const name = asString(one['name'])?.toLowerCase()
      if (name === undefined) continue
      const seen = network(namespace, name)
      const [vlan] = asList(one['subnets']).flatMap((subnet) => asInteger(asRecord(subnet)['vlan']) ?? [])
      seen.vlan = vlan
      seen.mtu = asInteger(one['mtu'])
      seen.dnsDomain = asString(one['dnsDomain'])
      seen.subnets.push(...asList(one['subnets']).flatMap((subnet) => readNetConfigSubnet(subnet, vlan) ?? []))
    }
  }
  for (const nad of index.all('k8s.cni.cncf.io/NetworkAttachmentDefinition')) {
    const { namespace = '', name } = nad.metadata
    const read = readAttachment(asRecord(nad['spec'])['config'])
    // Attachments are everybody's; only those that give out addresses, or that stand beside a NetConfig, make a cloud.
    if (!clouds.has(namespace) && (typeof read === 'string' || read.pods.length === 0)) continue
    const reason = typeof read === 'string' ? read : read.problem
    if (reason) {
      const where = { apiVersion: nad.apiVersion, kind: nad.kind, namespace, name }
      findings.push(finding(badAttachment, { cloud: namespace, network: name, reason }, { where }))
    }
    if (typeof read !== 'string') network(namespace, name).attachment = read
  }
  const wanted = [...clouds].filter(([namespace]) => !namespaces || namespaces.includes(namespace))
  return new Map(wanted.sort(([a], [b]) => a.localeCompare(b)))
}

export function collectPools(index: SnapshotIndex, clouds: ObservedClouds, findings: Finding[]): void {
  const homes = [...clouds].flatMap(([namespace, networks]) =>
    [...networks].map(([network, { subnets, attachment }]) => ({
      namespace,
      network,
      cidrs: [...subnets.map(({ cidr }) => cidr), ...(attachment?.pods ?? []).map(({ cidr }) => cidr)],
    })),
  )
  const interfacesOfPool = new Map(
    index.all('metallb.io/L2Advertisement').flatMap((one) => {
      const { ipAddressPools, interfaces } = asRecord(one['spec'])
      return asStrings(ipAddressPools).map((pool) => [pool, asStrings(interfaces)[0]] as const)
    }),
  )
  for (const { pool, namespace, network, addresses } of matchPools(
    index.all('metallb.io/IPAddressPool'),
    homes,
    findings,
  )) {
    const seen = clouds.get(namespace)?.get(network)
    seen?.vips.push(...addresses)
    if (seen) seen.announcedOn = interfacesOfPool.get(pool)
  }
}
