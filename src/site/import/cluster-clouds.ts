/**
 * The clouds that a snapshot speaks of: namespace by namespace and network by network, what NetConfig, attachments and
 * pools say of each.
 */
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { badAttachment } from '../../errors/import-existing.ts'
import { listOf, numberOf, recordOf, textOf, textsOf } from '../../yaml/loose.ts'
import { type Attachment, readAttachment } from './attachment.ts'
import { housePools } from './cluster-pools.ts'
import { subnetFacts } from './netconfig-facts.ts'
import type { SubnetFacts } from './network-facts.ts'

/** One network of one namespace, while it is being put together. */
export interface Seen {
  readonly subnets: SubnetFacts[]
  readonly vips: string[]
  attachment: Attachment | undefined
  mtu: number | undefined
  dnsDomain: string | undefined
  vlan: number | undefined
  announcedOn: string | undefined
}

export type Clouds = ReadonlyMap<string, ReadonlyMap<string, Seen>>

export function seeClouds(
  index: SnapshotIndex,
  namespaces: readonly string[] | undefined,
  findings: Finding[],
): Clouds {
  const clouds = new Map<string, Map<string, Seen>>()
  const network = (namespace: string, name: string): Seen => {
    const networks = clouds.get(namespace) ?? new Map<string, Seen>()
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
    for (const one of listOf(recordOf(netConfig['spec'])['networks']).map(recordOf)) {
      const name = textOf(one['name'])?.toLowerCase()
      if (name === undefined) continue
      const seen = network(namespace, name)
      const [vlan] = listOf(one['subnets']).flatMap((subnet) => numberOf(recordOf(subnet)['vlan']) ?? [])
      seen.vlan = vlan
      seen.mtu = numberOf(one['mtu'])
      seen.dnsDomain = textOf(one['dnsDomain'])
      seen.subnets.push(...listOf(one['subnets']).flatMap((subnet) => subnetFacts(subnet, vlan) ?? []))
    }
  }
  for (const nad of index.all('k8s.cni.cncf.io/NetworkAttachmentDefinition')) {
    const { namespace = '', name } = nad.metadata
    const read = readAttachment(recordOf(nad['spec'])['config'])
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

export function seePools(index: SnapshotIndex, clouds: Clouds, findings: Finding[]): void {
  const homes = [...clouds].flatMap(([namespace, networks]) =>
    [...networks].map(([network, { subnets, attachment }]) => ({
      namespace,
      network,
      cidrs: [...subnets.map(({ cidr }) => cidr), ...(attachment?.pods ?? []).map(({ cidr }) => cidr)],
    })),
  )
  const interfacesOfPool = new Map(
    index.all('metallb.io/L2Advertisement').flatMap((one) => {
      const { ipAddressPools, interfaces } = recordOf(one['spec'])
      return textsOf(ipAddressPools).map((pool) => [pool, textsOf(interfaces)[0]] as const)
    }),
  )
  for (const { pool, namespace, network, addresses } of housePools(
    index.all('metallb.io/IPAddressPool'),
    homes,
    findings,
  )) {
    const seen = clouds.get(namespace)?.get(network)
    seen?.vips.push(...addresses)
    if (seen) seen.announcedOn = interfacesOfPool.get(pool)
  }
}
