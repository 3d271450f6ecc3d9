/**
 * Bridges: one per segment that somebody wants one on, each with a name of its own.
 *
 * Pure. Who is on which segment is known already.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import type { ClusterNode } from '../../site/site.ts'
import { formatOwner, type Locate } from '../address-reader.ts'
import { duplicateBridge } from '../findings/segments.ts'
import { type Lock, lockEntries } from '../lock.ts'
import { type NetworkRequest, settingPathOrCloud } from '../requests.ts'
import { canonicalNic, defaultBridgeName, freeBridgeName } from './interface-names.ts'
import { segmentId } from './segment-id.ts'
import type { Tag } from './vlan-ids.ts'

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
