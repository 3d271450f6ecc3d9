/**
 * Names of interfaces and bridges on the nodes: one name per segment on all nodes, at most 15 characters.
 *
 * Pure. Which segments there are is decided elsewhere.
 */
import type { ClusterNode } from '../../site/site.ts'
import type { Tag } from './vlan-ids.ts'

/** What the kernel's IFNAMSIZ leaves for a name. */
export const NAME_LIMIT = 15

/** The devices that have a role, over all nodes, each once. */
export function listDevices(nodes: readonly ClusterNode[], nic: string): readonly string[] {
  return [...new Set(nodes.flatMap((node) => node.nics[nic] ?? []))]
}

/**
 * Two roles may be played by one device; its VLANs are then the same VLANs. The first role by name speaks for all.
 */
export function canonicalNic(nodes: readonly ClusterNode[], nic: string): string {
  const [node] = nodes
  const device = node?.nics[nic]
  if (!node || device === undefined) return nic
  const roles = Object.keys(node.nics).filter((role) => node.nics[role] === device)
  return roles.includes('main') ? 'main' : (roles.sort()[0] ?? nic)
}

/** `enp6s0.20`; where nodes call the device differently, or the name gets too long, the role's name instead. */
export function vlanInterface(nodes: readonly ClusterNode[], nic: string, tag: Tag): string {
  const [device, another] = listDevices(nodes, nic)
  if (tag === 'untagged') return device ?? nic
  const usual = `${another === undefined ? (device ?? nic) : nic}.${tag}`
  if (usual.length <= NAME_LIMIT) return usual
  return `${nic.slice(0, NAME_LIMIT - 1 - String(tag).length)}.${tag}`
}

const BRIDGES: Readonly<Record<string, string>> = { ctlplane: 'ospbr', octavia: 'octbr' }

/** What a bridge is called where nobody names it. */
export function defaultBridgeName(network: string): string {
  return BRIDGES[network] ?? `br-${network}`.slice(0, NAME_LIMIT)
}

/** The plain name for the first who wants it, the name with the VLAN's number for everybody else. */
export function freeBridgeName(base: string, tag: Tag, taken: ReadonlySet<string>): string {
  if (!taken.has(base)) return base
  for (let number = tag === 'untagged' ? 2 : tag; ; number += 1) {
    const name = `${base.slice(0, NAME_LIMIT - String(number).length)}${number}`
    if (!taken.has(name)) return name
  }
}
