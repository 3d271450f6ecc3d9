/** Parts of a site file that every importer of existing networks puts together in the same way. */
import type { SiteFile, SiteFileCloud } from '../../api/site.ts'

export type FileNode = SiteFile['spec']['cluster']['nodes'][number]

/** What is written when nothing says which NIC it is. */
export const DEFAULT_NIC = 'enp6s0'

/** NICs by name with their roles: the first is the main one, others are known by their own names. */
export type NicRoles = ReadonlyMap<string, string>

export function nicRoles(names: Iterable<string>): NicRoles {
  return new Map([...new Set(names)].map((nic, index) => [nic, index === 0 ? 'main' : nic]))
}

export function mainNic(nics: NicRoles): string | undefined {
  return [...nics].find(([, role]) => role === 'main')?.[0]
}

/** The short form where there is one NIC only. */
export function buildNode(name: string, nics: NicRoles, main = mainNic(nics) ?? DEFAULT_NIC): FileNode {
  const others = [...nics].filter(([, role]) => role !== 'main').map(([nic, role]) => [role, nic])
  return others.length === 0 ? { name, nic: main } : { name, nics: { main, ...Object.fromEntries(others) } }
}

/** What the networks carry already, the NICs below them carry, too. */
export function withMtu(nodes: readonly FileNode[], clouds: readonly SiteFileCloud[]): FileNode[] {
  const networks = clouds.flatMap((cloud) => Object.values(cloud.networks ?? {}))
  const mtu = Math.max(0, ...networks.map((network) => (network === false ? 0 : (network.mtu ?? 0))))
  return nodes.map((node) => (mtu > 1500 ? { ...node, mtu } : node))
}

export function detectFamilies(clouds: readonly SiteFileCloud[]): (4 | 6)[] {
  const cidrs = clouds.flatMap(({ networks }) =>
    Object.values(networks ?? {}).flatMap((network) =>
      network === false ? [] : (network.subnets ?? []).map(({ cidr }) => cidr),
    ),
  )
  const found = ([4, 6] as const).filter((family) => cidrs.some((cidr) => cidr.includes(':') === (family === 6)))
  return found.length > 0 ? [...found] : [4]
}

/** Whether two clouds are on one segment: then the file says so, instead of contradicting its own pins. */
export function detectIsolation(clouds: readonly SiteFileCloud[]): 'shared-vlan' | 'vlan-per-cloud' {
  const segments = clouds.flatMap(({ networks }) => {
    const own = Object.values(networks ?? {}).flatMap((network) =>
      network === false || network.vlan === undefined ? [] : [`${network.nic ?? 'main'}/${network.vlan}`],
    )
    return [...new Set(own)]
  })
  return new Set(segments).size < segments.length ? 'shared-vlan' : 'vlan-per-cloud'
}
