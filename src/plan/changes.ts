/**
 * Compares two locks: every change with its risk for the running clouds.
 *
 * Pure. Knows locks only, no files and no requests.
 */

import { getOwn } from '../api/collections.ts'
import { parseRange } from '../net/range.ts'
import { type RangeSet, rangeSet, subtract } from '../net/range-set.ts'
import type { AllocatorRole } from '../site/site.ts'
import {
  type HolderKind,
  holderKinds,
  type Lock,
  type LockedCloud,
  type LockedNetwork,
  type LockedSubnet,
} from './lock.ts'

/** From harmless to painful. */
export const risks = ['safe', 'restarts pods', 'changes a VIP', 'touches node networking', 'needs recreation'] as const
export type Risk = (typeof risks)[number]

export interface Change {
  readonly cloud: string
  /** Absent for a change of the cloud itself. */
  readonly network?: string
  /** For example `vlan`, `subnet subnet1`, `VIP of keystone.internal`, `host compute-0`. */
  readonly what: string
  /** Absent for what is new. */
  readonly from?: string
  /** Absent for what is gone. */
  readonly to?: string
  readonly risk: Risk
  /** Whether an address, a subnet, a VLAN or a namespace goes from one value to another. */
  readonly moves: boolean
}

export function diffLocks(before: Lock, after: Lock): readonly Change[] {
  const changes: Change[] = []
  const present = Object.values(after.clouds).filter(({ leaving }) => !leaving)
  const namespaces = new Set(present.map(({ namespace }) => namespace))
  for (const cloud of new Set([...Object.keys(before.clouds), ...Object.keys(after.clouds)])) {
    const locked = getOwn(after.clouds, cloud)
    const isReused = Boolean(locked?.leaving) && namespaces.has(locked?.namespace ?? '')
    const found = cloudChanges(cloud, getOwn(before.clouds, cloud), locked)
    // A cloud that leaves its namespace to another one is not just left alone.
    changes.push(...(isReused ? found.map((change) => ({ ...change, risk: 'needs recreation' as const })) : found))
  }
  return changes
}

function cloudChanges(
  cloud: string,
  before: LockedCloud | undefined,
  after: LockedCloud | undefined,
): readonly Change[] {
  const whole = { cloud, what: 'cloud', moves: false }
  if (!before && after) return [{ ...whole, to: after.namespace, risk: 'touches node networking' }]
  if (!before || !after) return [{ ...whole, from: before?.namespace ?? '', risk: 'safe' }]
  const changes: Change[] = []
  if (after.leaving) {
    if (!before.leaving) changes.push({ ...whole, from: before.namespace, to: 'leaving', risk: 'safe' })
    return changes
  }
  if (before.leaving) changes.push({ ...whole, from: 'leaving', to: after.namespace, risk: 'safe' })
  if (before.namespace !== after.namespace) {
    const { namespace: from } = before
    changes.push({ ...whole, what: 'namespace', from, to: after.namespace, risk: 'needs recreation', moves: true })
  }
  changes.push(...cellChanges(cloud, before, after))
  for (const network of new Set([...Object.keys(before.networks), ...Object.keys(after.networks)])) {
    changes.push(...networkChanges(cloud, network, getOwn(before.networks, network), getOwn(after.networks, network)))
  }
  return changes
}

/** What the change of a host's nova cell is called, before the name of the host. */
export const CELL = 'cell of host'

function cellChanges(cloud: string, before: LockedCloud, after: LockedCloud): readonly Change[] {
  if (!before.cells || !after.cells || before.cells === after.cells) return []
  return Object.entries(after.cells).flatMap(([host, to]) => {
    const from = getOwn(before.cells, host)
    if (from === undefined || from === to) return []
    return [{ cloud, what: `${CELL} ${host}`, from, to, risk: 'needs recreation' as const, moves: true }]
  })
}

function networkChanges(
  cloud: string,
  network: string,
  before: LockedNetwork | undefined,
  after: LockedNetwork | undefined,
): readonly Change[] {
  const whole = { cloud, network, what: 'network', moves: false }
  const words = (lockedNetwork: LockedNetwork): string =>
    (lockedNetwork.subnets ?? []).map(({ cidr }) => cidr).join(', ') || lockedNetwork.interface
  if (!before && after) return [{ ...whole, to: words(after), risk: 'touches node networking' }]
  if (!before || !after) return [{ ...whole, from: before ? words(before) : '', risk: 'safe' }]
  if (after.leaving) return before.leaving ? [] : [{ ...whole, from: words(before), to: 'leaving', risk: 'safe' }]
  // A network on the bridge of another one has no VLAN that could move.
  const hasSegment = before.nic !== undefined && after.nic !== undefined
  const changes = [
    ...compare('NIC', [before.nic, after.nic], 'touches node networking', hasSegment),
    ...compare('vlan', [formatTag(before), formatTag(after)], 'touches node networking', hasSegment),
    ...compare('interface', [before.interface, after.interface], 'touches node networking', false),
    ...compare('bridge', [before.bridge, after.bridge], 'touches node networking', false),
    ...compare('mtu', [String(before.mtu), String(after.mtu)], 'touches node networking', false),
    ...compare('pool', [before.pool, after.pool], 'changes a VIP', false),
    ...subnetChanges(before, after),
    ...holderKinds.flatMap((kind) => holderChanges(kind, before, after)),
  ]
  return changes.map((change) => ({ cloud, network, ...change }))
}

function formatTag({ vlan, nic }: LockedNetwork): string {
  return vlan === undefined ? (nic === undefined ? 'none' : 'untagged') : String(vlan)
}

type Bare = Omit<Change, 'cloud' | 'network'>

/** One change, or none; a value that is absent on one side was added or removed. */
function compare(
  what: string,
  values: readonly [string | undefined, string | undefined],
  risk: Risk,
  moves: boolean,
): readonly Bare[] {
  const [from, to] = values
  if (from === to) return []
  return [{ what, ...(from !== undefined && { from }), ...(to !== undefined && { to }), risk, moves }]
}

function subnetChanges(before: LockedNetwork, after: LockedNetwork): readonly Bare[] {
  const old = new Map((before.subnets ?? []).map((subnet) => [subnet.name, subnet]))
  const now = new Map((after.subnets ?? []).map((subnet) => [subnet.name, subnet]))
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const [from, to] = [old.get(name), now.get(name)]
    if (from && to) return sameSubnetChanges(from, to)
    return compare(`subnet ${name}`, [from?.cidr, to?.cidr], 'touches node networking', false)
  })
}

function sameSubnetChanges(from: LockedSubnet, to: LockedSubnet): readonly Bare[] {
  const { name } = from
  const gateways = from.gateway !== undefined && to.gateway !== undefined
  const changes = [
    ...compare(`subnet ${name}`, [from.cidr, to.cidr], 'needs recreation', true),
    ...compare(`gateway of ${name}`, [from.gateway, to.gateway], 'touches node networking', gateways),
  ]
  if (from.cidr !== to.cidr) return changes
  for (const role of ['nodes', 'pods', 'vips', 'hosts'] as const) {
    const texts = [from.spans?.[role]?.join(', '), to.spans?.[role]?.join(', ')] as const
    changes.push(...compare(`${role} of ${name}`, texts, spanRisk(role, from, to), false))
  }
  return changes
}

/** What has an address keeps it in a larger span. In a smaller one pods and Services may lose theirs; hosts do not. */
function spanRisk(role: AllocatorRole, from: LockedSubnet, to: LockedSubnet): Risk {
  if (role !== 'pods' && role !== 'vips') return 'safe'
  const ranges = ({ spans }: LockedSubnet): RangeSet =>
    rangeSet((spans?.[role] ?? []).flatMap((text) => parseRange(text) ?? []))
  if (subtract(ranges(from), ranges(to)).length === 0) return 'safe'
  return role === 'pods' ? 'restarts pods' : 'changes a VIP'
}

const words: Readonly<Record<HolderKind, { readonly what: string; readonly moved: Risk; readonly fresh: Risk }>> = {
  vips: { what: 'VIP of', moved: 'changes a VIP', fresh: 'safe' },
  nodes: { what: 'node', moved: 'touches node networking', fresh: 'touches node networking' },
  hosts: { what: 'host', moved: 'needs recreation', fresh: 'safe' },
  endpoints: { what: 'endpoint', moved: 'restarts pods', fresh: 'safe' },
}

function holderChanges(kind: HolderKind, before: LockedNetwork, after: LockedNetwork): readonly Bare[] {
  if (before[kind] === after[kind]) return []
  const { what, moved, fresh } = words[kind]
  const [held, now] = [before[kind] ?? {}, after[kind] ?? {}]
  // A holder that left and came back with the same address is no change.
  const left = before.left?.[kind] ?? {}
  const changes: Bare[] = []
  for (const name in held) {
    const [from, to] = [held[name] ?? [], getOwn(now, name)]
    if (to === undefined) changes.push({ what: `${what} ${name}`, from: from.join(', '), risk: 'safe', moves: false })
    else if (!sameTexts(from, to)) changes.push(holderChange(`${what} ${name}`, from, to, moved))
  }
  for (const name in now) {
    if (getOwn(held, name)) continue
    const [from, to] = [getOwn(left, name), now[name] ?? []]
    if (!from) changes.push({ what: `${what} ${name}`, to: to.join(', '), risk: fresh, moves: false })
    else if (!sameTexts(from, to)) changes.push(holderChange(`${what} ${name}`, from, to, moved))
  }
  return changes
}

function holderChange(what: string, from: readonly string[], to: readonly string[], risk: Risk): Bare {
  return { what, from: from.join(', '), to: to.join(', '), risk, moves: replaces(from, to) }
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index])
}

/** A family that is added or removed moves no address. */
function replaces(old: readonly string[], now: readonly string[]): boolean {
  return old.some((text) => !now.includes(text)) && now.some((text) => !old.includes(text))
}
