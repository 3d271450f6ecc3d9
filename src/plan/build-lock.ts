/**
 * Builds the lock of a draft: every decision, and the addresses of holders that are no longer in the site file.
 *
 * Pure. Keeps the order of the old lock, so that a lock changes only where a decision does.
 */

import { emptyRecord, getOwn } from '../api/collections.ts'
import { poolName } from '../api/pool-name.ts'
import { formatAddress } from '../net/address.ts'
import { formatCidr } from '../net/cidr.ts'
import { formatRange } from '../net/range.ts'
import type { AllocatorRole, Cloud } from '../site/site.ts'
import type { DraftNetwork, DraftSubnet } from './draft/draft.ts'
import {
  type AddressesByHolder,
  type HolderKind,
  holderKinds,
  type Lock,
  type LockedCloud,
  type LockedNetwork,
  type LockedSubnet,
  listHolders,
  slotLines,
} from './lock.ts'
import { hostCell } from './node-sets.ts'
import type { NamedAddress } from './plan.ts'
import type { SlotTable } from './slots/slots.ts'

export function buildLock(
  site: string,
  networks: readonly DraftNetwork[],
  clouds: readonly Cloud[],
  before: Lock,
  table: SlotTable,
): Lock {
  const drafts = new Map<string, DraftNetwork[]>(clouds.map(({ name }) => [name, []]))
  for (const network of networks) drafts.get(network.request.cloud.name)?.push(network)
  const byName = new Map(clouds.map((cloud) => [cloud.name, cloud]))
  const names = new Set([...Object.keys(before.clouds), ...drafts.keys()])
  const locked = emptyRecord<LockedCloud>()
  for (const name of names) {
    const old = getOwn(before.clouds, name)
    const present = drafts.get(name)
    const cloud = byName.get(name)
    if (cloud && present) locked[name] = lockCloud(cloud, present, old)
    else if (old) locked[name] = { ...old, leaving: true }
  }
  const { crd, services, release } = table
  const named = release.name !== undefined && { release: release.name }
  return { site, crd, ...named, slots: slotLines(table), services, clouds: locked }
}

function lockCloud(cloud: Cloud, drafts: readonly DraftNetwork[], old: LockedCloud | undefined): LockedCloud {
  const byName = new Map(drafts.map((draft) => [draft.request.network.name, draft]))
  const networks = emptyRecord<LockedNetwork>()
  for (const name of new Set([...Object.keys(old?.networks ?? {}), ...byName.keys()])) {
    const draft = byName.get(name)
    const before = getOwn(old?.networks, name)
    if (draft?.placement) networks[name] = lockNetwork(draft, before)
    // A network on the bridge of another one holds nothing.
    else if (before && (before.nic !== undefined || before.subnets)) networks[name] = { ...before, leaving: true }
  }
  const cells = lockCells(cloud, old, networks)
  return { namespace: cloud.namespace, ...(cells && { cells }), networks }
}

/** The cell of each host, and of hosts that left but still hold addresses. */
function lockCells(
  cloud: Cloud,
  old: LockedCloud | undefined,
  networks: LockedCloud['networks'],
): LockedCloud['cells'] {
  const hosts = cloud.file.hosts ?? []
  const left = Object.values(networks).flatMap((network) => (network.left?.hosts ? [network.left.hosts] : []))
  if (old?.cells && left.length === 0 && hasCells(old.cells, cloud)) return old.cells
  const cells = emptyRecord<string>()
  for (const host in old?.cells) {
    if (left.some((held) => getOwn(held, host))) cells[host] = old.cells[host] as string
  }
  for (const host of hosts) cells[host.name] = hostCell(cloud, host)
  return Object.keys(cells).length > 0 ? cells : undefined
}

/** Whether the record has the cell of every host, in the order of the hosts, and nothing else. */
function hasCells(cells: Readonly<Record<string, string>>, cloud: Cloud): boolean {
  const hosts = cloud.file.hosts ?? []
  let index = 0
  for (const name in cells) {
    const host = hosts[index]
    if (host?.name !== name || cells[name] !== hostCell(cloud, host)) return false
    index += 1
  }
  return index === hosts.length && index > 0
}

function lockNetwork(draft: DraftNetwork, old: LockedNetwork | undefined): LockedNetwork {
  const { request, placement, subnets } = draft
  const { segment, nic, vlan, carrier, bridge, mtu } = placement as NonNullable<typeof placement>
  const hasVips = subnets.some(({ spans }) => spans.vips !== undefined && spans.vips.length > 0)
  const now: Readonly<Record<HolderKind, AddressesByHolder>> = {
    vips: groupByHolder(
      draft.slotVips.map(({ slot, address }) => ({ name: slot, address })),
      old?.vips,
    ),
    nodes: groupByHolder(draft.nodes, old?.nodes),
    hosts: groupByHolder(draft.hosts, old?.hosts),
    endpoints: groupByHolder(draft.endpoints, old?.endpoints),
  }
  const left = leftOver(now, old)
  return {
    ...(segment !== undefined && { nic }),
    ...(vlan !== undefined && { vlan }),
    interface: carrier,
    ...(bridge !== undefined && { bridge }),
    mtu,
    ...(hasVips && { pool: poolName(request.cloud.namespace, request.network.name) }),
    ...(subnets.length > 0 && { subnets: subnets.map(lockSubnet) }),
    ...(Object.keys(draft.groupVips).length > 0 && { vip: draft.groupVips }),
    ...filled(now),
    ...(Object.keys(left).length > 0 && { left }),
  }
}

function lockSubnet({ name, cidr, gateway, spans }: DraftSubnet): LockedSubnet {
  const texts: Partial<Record<AllocatorRole, readonly string[]>> = {}
  for (const [role, ranges] of Object.entries(spans)) texts[role as AllocatorRole] = ranges.map(formatRange)
  return {
    name,
    cidr: formatCidr(cidr),
    ...(gateway && { gateway: formatAddress(gateway) }),
    ...(Object.keys(texts).length > 0 && { spans: texts }),
  }
}

/** The old record itself where nothing changed: the usual case, and comparing locks is then cheap. */
function groupByHolder(addresses: readonly NamedAddress[], old: AddressesByHolder | undefined): AddressesByHolder {
  if (old && isUnchanged(addresses, old)) return old
  const now = emptyRecord<readonly string[]>()
  for (let index = 0; index < addresses.length; ) {
    const { name, address } = addresses[index] as NamedAddress
    const next = addresses[index + 1]
    // Both families of a host are neighbours: a literal of two is four times as cheap as a push.
    const texts = next?.name === name ? [address, next.address] : [address]
    const known = now[name]
    now[name] = known ? [...known, ...texts] : texts
    index += texts.length
  }
  return old ? inOldOrder(now, old) : now
}

/** Whether the record has these addresses in this order; without a look-up by name, which would be most of the time. */
function isUnchanged(addresses: readonly NamedAddress[], old: AddressesByHolder): boolean {
  const held = listHolders(old)
  let index = 0
  for (const [position, name] of held.names.entries()) {
    const texts = held.addresses[position] ?? []
    if (texts.length === 0) return false
    for (const text of texts) {
      const holder = addresses[index]
      if (holder?.address !== text || holder.name !== name) return false
      index += 1
    }
  }
  return index === addresses.length
}

/** Holders that the old lock has keep their position. */
function inOldOrder(now: AddressesByHolder, old: AddressesByHolder): AddressesByHolder {
  const names = Object.keys(now)
  let index = 0
  for (const name in old) if (name === names[index]) index += 1
  if (index === names.length) return now
  const ordered = emptyRecord<readonly string[]>()
  for (const name in old) if (now[name]) ordered[name] = now[name]
  for (const name of names) ordered[name] ??= now[name] as readonly string[]
  return ordered
}

function filled(now: Readonly<Record<HolderKind, AddressesByHolder>>): Partial<Record<HolderKind, AddressesByHolder>> {
  const some: Partial<Record<HolderKind, AddressesByHolder>> = {}
  for (const kind of holderKinds) if (hasAny(now[kind])) some[kind] = now[kind]
  return some
}

/** Addresses of holders that left the site file stay reserved, unless a present holder shares them. */
function leftOver(
  now: Readonly<Record<HolderKind, AddressesByHolder>>,
  old: LockedNetwork | undefined,
): Partial<Record<HolderKind, AddressesByHolder>> {
  const left: Partial<Record<HolderKind, AddressesByHolder>> = {}
  if (!old) return left
  for (const kind of holderKinds) {
    const present = now[kind]
    if (present === old[kind] && !old.left?.[kind]) continue
    const gone: [string, readonly string[]][] = []
    for (const held of [old.left?.[kind], old[kind]]) {
      for (const name in held) if (!present[name]) gone.push([name, held[name] ?? []])
    }
    if (gone.length === 0) continue
    const inUse = new Set(Object.values(present).flat())
    const held = gone.map(([name, texts]) => [name, texts.filter((text) => !inUse.has(text))] as const)
    const still = emptyRecord<readonly string[]>()
    for (const [name, texts] of held) if (texts.length > 0) still[name] = texts
    if (hasAny(still)) left[kind] = still
  }
  return left
}

function hasAny(held: AddressesByHolder): boolean {
  for (const _ in held) return true
  return false
}
