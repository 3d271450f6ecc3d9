/**
 * The lock of a draft: every decision written down, and what those held who are no longer there.
 *
 * Pure. Keeps the order of the old lock, so that a lock changes only where a decision does.
 */
import { formatAddress } from '../net/address.ts'
import { formatCidr } from '../net/cidr.ts'
import { formatRange } from '../net/range.ts'
import type { AllocatorRole } from '../site/site.ts'
import { emptyRecord, getOwn } from './collections.ts'
import type { DraftNetwork, DraftSubnet } from './draft/draft.ts'
import {
  type HeldAddresses,
  type HolderKind,
  holderKinds,
  type Lock,
  type LockedCloud,
  type LockedNetwork,
  type LockedSubnet,
  slotLines,
} from './lock.ts'
import type { NamedAddress } from './plan.ts'
import type { SlotTable } from './slots/slots.ts'

export function buildLock(
  site: string,
  networks: readonly DraftNetwork[],
  clouds: readonly { readonly name: string; readonly namespace: string }[],
  before: Lock,
  table: SlotTable,
): Lock {
  const drafts = new Map<string, DraftNetwork[]>(clouds.map(({ name }) => [name, []]))
  for (const network of networks) drafts.get(network.wish.cloud.name)?.push(network)
  const namespaces = new Map(clouds.map(({ name, namespace }) => [name, namespace]))
  const names = new Set([...Object.keys(before.clouds), ...drafts.keys()])
  const locked = emptyRecord<LockedCloud>()
  for (const name of names) {
    const old = getOwn(before.clouds, name)
    const present = drafts.get(name)
    if (present) locked[name] = lockedCloud(namespaces.get(name) ?? '', present, old)
    else if (old) locked[name] = { ...old, leaving: true }
  }
  return { site, crd: table.crd, slots: slotLines(table), services: table.services, clouds: locked }
}

function lockedCloud(namespace: string, drafts: readonly DraftNetwork[], old: LockedCloud | undefined): LockedCloud {
  const byName = new Map(drafts.map((draft) => [draft.wish.network.name, draft]))
  const networks = emptyRecord<LockedNetwork>()
  for (const name of new Set([...Object.keys(old?.networks ?? {}), ...byName.keys()])) {
    const draft = byName.get(name)
    const before = getOwn(old?.networks, name)
    if (draft?.placement) networks[name] = lockedNetworkOf(draft, before)
    // Who rides on another's bridge holds nothing.
    else if (before && (before.nic !== undefined || before.subnets)) networks[name] = { ...before, leaving: true }
  }
  return { namespace, networks }
}

function lockedNetworkOf(draft: DraftNetwork, old: LockedNetwork | undefined): LockedNetwork {
  const { wish, placement, subnets } = draft
  const { segment, nic, vlan, carrier, bridge, mtu } = placement as NonNullable<typeof placement>
  const hasVips = subnets.some(({ spans }) => spans.vips !== undefined && spans.vips.length > 0)
  const now: Readonly<Record<HolderKind, HeldAddresses>> = {
    vips: held(
      draft.slotVips.map(({ slot, address }) => ({ name: slot, address })),
      old?.vips,
    ),
    nodes: held(draft.nodes, old?.nodes),
    hosts: held(draft.hosts, old?.hosts),
    endpoints: held(draft.endpoints, old?.endpoints),
  }
  const left = leftOver(now, old)
  return {
    ...(segment !== undefined && { nic }),
    ...(vlan !== undefined && { vlan }),
    interface: carrier,
    ...(bridge !== undefined && { bridge }),
    mtu,
    ...(hasVips && { pool: `${wish.cloud.namespace}-${wish.network.name}` }),
    ...(subnets.length > 0 && { subnets: subnets.map(lockedSubnet) }),
    ...(Object.keys(draft.groupVips).length > 0 && { vip: draft.groupVips }),
    ...filled(now),
    ...(Object.keys(left).length > 0 && { left }),
  }
}

function lockedSubnet({ name, cidr, gateway, spans }: DraftSubnet): LockedSubnet {
  const texts: Partial<Record<AllocatorRole, readonly string[]>> = {}
  for (const [role, ranges] of Object.entries(spans)) texts[role as AllocatorRole] = ranges.map(formatRange)
  return {
    name,
    cidr: formatCidr(cidr),
    ...(gateway && { gateway: formatAddress(gateway) }),
    ...(Object.keys(texts).length > 0 && { spans: texts }),
  }
}

function held(holdings: readonly NamedAddress[], old: HeldAddresses | undefined): HeldAddresses {
  if (old && isStill(holdings, old)) return old
  const now = emptyRecord<string[]>()
  for (const { name, address } of holdings) {
    const known = now[name]
    if (known) known.push(address)
    else now[name] = [address]
  }
  return old ? inOldOrder(now, old) : now
}

/** Whether everybody has exactly what he had: the usual case, and nothing has to be made anew for it. */
function isStill(holdings: readonly NamedAddress[], old: HeldAddresses): boolean {
  let name = ''
  let texts: readonly string[] = []
  let at = 0
  let names = 0
  for (const holding of holdings) {
    if (holding.name !== name) {
      if (at !== texts.length) return false
      name = holding.name
      texts = getOwn(old, name) ?? []
      at = 0
      names += 1
    }
    if (texts[at] !== holding.address) return false
    at += 1
  }
  return at === texts.length && names === Object.keys(old).length
}

/** A lock changes only where a decision does: who was there stays where he was. */
function inOldOrder(now: HeldAddresses, old: HeldAddresses): HeldAddresses {
  const names = Object.keys(now)
  let at = 0
  for (const name in old) if (name === names[at]) at += 1
  if (at === names.length) return now
  const ordered = emptyRecord<readonly string[]>()
  for (const name in old) if (now[name]) ordered[name] = now[name]
  for (const name of names) ordered[name] ??= now[name] as readonly string[]
  return ordered
}

function filled(now: Readonly<Record<HolderKind, HeldAddresses>>): Partial<Record<HolderKind, HeldAddresses>> {
  const some: Partial<Record<HolderKind, HeldAddresses>> = {}
  for (const kind of holderKinds) if (hasAny(now[kind])) some[kind] = now[kind]
  return some
}

/** Addresses of those who no longer ask: given to nobody, unless somebody who shared them still has them. */
function leftOver(
  now: Readonly<Record<HolderKind, HeldAddresses>>,
  old: LockedNetwork | undefined,
): Partial<Record<HolderKind, HeldAddresses>> {
  const left: Partial<Record<HolderKind, HeldAddresses>> = {}
  if (!old) return left
  for (const kind of holderKinds) {
    const gone: [string, readonly string[]][] = []
    const present = now[kind]
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

function hasAny(held: HeldAddresses): boolean {
  for (const _ in held) return true
  return false
}
