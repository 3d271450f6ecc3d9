/**
 * Names of interfaces and bridges on the nodes: one name per segment on all nodes, at most 15 characters.
 *
 * Pure. Which segments there are is decided elsewhere.
 */

import { type Finding, finding } from '../../errors/finding.ts'
import { type ClusterNode } from '../../site/site.ts'
import { formatOwner, type Locate } from '../address-reader.ts'
import { duplicateBridge } from '../findings/segments.ts'
import { type Lock, lockEntries } from '../lock.ts'
import { type NetworkRequest, settingPathOrCloud } from '../requests.ts'
import { segmentId } from './draft.ts'
import { type Tag } from './vlan-ids.ts'

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

// FOLDED src/plan/draft/bridges.ts
/**
 * Bridges: one per segment that somebody wants one on, each with a name of its own.
 *
 * Pure. Who is on which segment is known already.
 */
export interface BridgeInput {
  readonly nodes: readonly ClusterNode[]
  readonly wishes: readonly NetworkRequest[]
  readonly tags: ReadonlyMap<string, Tag>
  readonly lock: Lock
  readonly locate: Locate
}

export interface Bridges {
  /** Names by segment. */
  readonly names: ReadonlyMap<string, string>
  readonly findings: readonly Finding[]
}

/** One bridge per segment that somebody wants one on; names that are known stay. */
export function grantBridges({ nodes, wishes, tags, lock, locate }: BridgeInput): Bridges {
  const findings: Finding[] = []
  const wanting = wishes.flatMap((wish) => {
    const tag = tags.get(wish.owner)
    const { bridge } = wish.network.settings
    if (tag === undefined || bridge === undefined || bridge === false) return []
    const segment = segmentId(canonicalNic(nodes, wish.nic), tag)
    const name = typeof bridge === 'string' ? bridge : undefined
    return [{ wish, tag, segment, name, pinned: wish.network.layers.some(pinsBridge) }]
  })
  const locked = new Map(lockEntries(lock).map(({ owner, locked: one }) => [owner, one.bridge]))
  const names = new Map<string, string>()
  const users = new Map<string, (typeof wanting)[number]>()
  const taken = new Set([...locked.values()].filter((name) => name !== undefined))

  const give = (one: (typeof wanting)[number], name: string): void => {
    const user = users.get(name)
    if (user && user.segment !== one.segment) {
      const where = locate(settingPathOrCloud(one.wish, 'bridge'))
      const owners = [user, one].map(({ wish }) => formatOwner(wish.owner, settingPathOrCloud(wish, 'bridge'), locate))
      findings.push(finding(duplicateBridge, { a: user.wish.owner, b: one.wish.owner, name }, { where, owners }))
    }
    if (!names.has(one.segment)) names.set(one.segment, name)
    if (!user) users.set(name, one)
    taken.add(name)
  }
  for (const one of wanting) if (one.pinned && one.name !== undefined) give(one, one.name)
  for (const one of wanting) {
    const before = locked.get(one.wish.owner)
    if (!names.has(one.segment) && before !== undefined) give(one, before)
  }
  for (const one of wanting) {
    if (names.has(one.segment)) continue
    give(one, freeBridgeName(one.name ?? defaultBridgeName(one.wish.network.name), one.tag, taken))
  }
  return { names, findings }
}

function pinsBridge({ settings, path }: NetworkRequest['network']['layers'][number]): boolean {
  return typeof settings.bridge === 'string' && path?.[1] === 'clouds'
}
