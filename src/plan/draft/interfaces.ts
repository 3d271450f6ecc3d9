/**
 * Names interfaces and bridges: one name per segment on all nodes, at most 15 characters, one bridge per segment.
 *
 * Pure. Which segments there are is decided elsewhere.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import type { ClusterNode } from '../../site/site.ts'
import { formatOwner, type Locate } from '../address-reader.ts'
import { duplicateBridge } from '../findings/segments.ts'
import { type Lock, lockEntries } from '../lock.ts'
import { isPinnedByCloud, type NetworkRequest, settingPathOrCloud } from '../requests.ts'
import { segmentId } from './draft.ts'
import type { Tag } from './vlan-ids.ts'

/** What the kernel's IFNAMSIZ leaves for a name. */
export const NAME_LIMIT = 15

/** The devices that have a role, over all nodes, each once. */
export function listDevices(nodes: readonly ClusterNode[], nic: string): readonly string[] {
  return [...new Set(nodes.flatMap((node) => node.nics[nic] ?? []))]
}

/** One device may have two roles, and its VLANs are then the same VLANs: all use the first role by name. */
export function canonicalNic(nodes: readonly ClusterNode[], nic: string): string {
  const [node] = nodes
  const device = node?.nics[nic]
  if (!node || device === undefined) return nic
  const roles = Object.keys(node.nics).filter((role) => node.nics[role] === device)
  return roles.includes('main') ? 'main' : (roles.sort()[0] ?? nic)
}

/** `enp6s0.20`; where the device has several names, or the name gets too long, the role's name instead. */
export function vlanInterface(nodes: readonly ClusterNode[], nic: string, tag: Tag): string {
  const [device, another] = listDevices(nodes, nic)
  if (tag === 'untagged') return device ?? nic
  const name = `${another === undefined ? (device ?? nic) : nic}.${tag}`
  return name.length <= NAME_LIMIT ? name : roleInterface(nic, tag)
}

function roleInterface(nic: string, tag: number): string {
  return `${nic.slice(0, NAME_LIMIT - 1 - String(tag).length)}.${tag}`
}

/**
 * The name in the lock stays as long as a node has the NIC that it is named after, or it is named after the role: a node with
 * another NIC that joins or leaves would otherwise rename the interfaces of all nodes.
 */
export function isKeptInterface(locked: string, nodes: readonly ClusterNode[], nic: string, tag: number): boolean {
  return locked === roleInterface(nic, tag) || listDevices(nodes, nic).some((device) => locked === `${device}.${tag}`)
}

const BRIDGES: Readonly<Record<string, string>> = { ctlplane: 'ospbr', octavia: 'octbr' }

function defaultBridgeName(network: string): string {
  return BRIDGES[network] ?? `br-${network}`.slice(0, NAME_LIMIT)
}

/** The plain name for the first segment that asks for it, the name with the VLAN id for the others. */
export function freeBridgeName(base: string, tag: Tag, taken: ReadonlySet<string>): string {
  if (!taken.has(base)) return base
  for (let number = tag === 'untagged' ? 2 : tag; ; number += 1) {
    const name = `${base.slice(0, NAME_LIMIT - String(number).length)}${number}`
    if (!taken.has(name)) return name
  }
}

export interface BridgeInput {
  readonly nodes: readonly ClusterNode[]
  readonly requests: readonly NetworkRequest[]
  readonly tags: ReadonlyMap<string, Tag>
  readonly lock: Lock
  readonly locate: Locate
}

export interface Bridges {
  /** Names by segment. */
  readonly names: ReadonlyMap<string, string>
  readonly findings: readonly Finding[]
}

/** One bridge per segment that needs one: pinned names first, then locked ones, then new ones. */
export function assignBridges({ nodes, requests, tags, lock, locate }: BridgeInput): Bridges {
  const findings: Finding[] = []
  const bridged = requests.flatMap((request) => {
    const tag = tags.get(request.owner)
    const { bridge } = request.network.settings
    if (tag === undefined || bridge === undefined || bridge === false) return []
    const segment = segmentId(canonicalNic(nodes, request.nic), tag)
    const name = typeof bridge === 'string' ? bridge : undefined
    return [{ request, tag, segment, name, pinned: name !== undefined && isPinnedByCloud(request.network, 'bridge') }]
  })
  const locked = new Map(lockEntries(lock).map((entry) => [entry.owner, entry.locked.bridge]))
  const names = new Map<string, string>()
  const users = new Map<string, (typeof bridged)[number]>()
  const taken = new Set([...locked.values()].filter((name) => name !== undefined))

  const assign = (network: (typeof bridged)[number], name: string): void => {
    const user = users.get(name)
    const { segment, request } = network
    if (user && user.segment !== segment) {
      const where = locate(settingPathOrCloud(request, 'bridge'))
      const owners = [user.request, request].map((part) =>
        formatOwner(part.owner, settingPathOrCloud(part, 'bridge'), locate),
      )
      findings.push(finding(duplicateBridge, { a: user.request.owner, b: request.owner, name }, { where, owners }))
    }
    if (!names.has(segment)) names.set(segment, name)
    if (!user) users.set(name, network)
    taken.add(name)
  }
  for (const network of bridged) if (network.pinned && network.name !== undefined) assign(network, network.name)
  for (const network of bridged) {
    const before = locked.get(network.request.owner)
    if (!names.has(network.segment) && before !== undefined) assign(network, before)
  }
  for (const network of bridged) {
    if (names.has(network.segment)) continue
    const base = network.name ?? defaultBridgeName(network.request.network.name)
    assign(network, freeBridgeName(base, network.tag, taken))
  }
  return { names, findings }
}
