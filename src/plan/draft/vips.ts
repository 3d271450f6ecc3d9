/**
 * The VIP of each slot on one network: APIs share one address, everybody whose ports clash has one alone.
 *
 * Pure. Internal and public endpoints have equal ports, so each of these groups has an address of its own.
 */

import { type Finding, finding } from '../../errors/finding.ts'
import { type Family, formatAddress, formatValue } from '../../net/address.ts'
import { formatRange, type Range } from '../../net/range.ts'
import type { Path } from '../../site/site.ts'
import { formatOwner, type Locate } from '../address-reader.ts'
import { tooFewVips, vipOutsidePool, vipPortConflict } from '../findings/capacity.ts'
import { lockConflict } from '../findings/lock.ts'
import { type ByFamily, type LockedNetwork, parseHeldAddresses } from '../lock.ts'
import type { PlannedVip } from '../plan.ts'
import { type CloudRequest, type NetworkRequest, settingPathOrCloud } from '../requests.ts'
import type { SlotUse } from '../slots/slots.ts'
import { type AddressGrants, assignAddresses, capacity } from './addresses.ts'
import type { DraftEndpoint, DraftSubnet } from './draft.ts'
import { excludedFrom } from './holders.ts'

export interface VipInput {
  readonly wish: NetworkRequest
  readonly cloud: CloudRequest
  readonly subnets: readonly DraftSubnet[]
  readonly endpoints: readonly DraftEndpoint[]
  readonly locked: LockedNetwork | undefined
  /** The file's pins count; false for a network that stays as the lock has it. */
  readonly pins: boolean
  readonly locate: Locate
}

export interface GivenVips {
  /** The shared address of each group of slots. */
  readonly groupVips: Readonly<Record<string, readonly string[]>>
  readonly slotVips: readonly PlannedVip[]
  readonly findings: readonly Finding[]
}

export function assignVips(input: VipInput): GivenVips {
  const { wish, cloud, subnets, locked } = input
  const uses = cloud.uses.filter((use) => use.network === wish.network.name)
  const findings: Finding[] = []
  const slotVips: PlannedVip[] = []
  const groupVips: Record<string, string[]> = {}
  const before = { group: parseHeldAddresses(locked?.vip), slot: parseHeldAddresses(locked?.left?.vips, locked?.vips) }
  for (const family of [4, 6] as const) {
    const own = subnets.filter((subnet) => subnet.cidr.family === family)
    const spans = own.flatMap((subnet) => subnet.spans.vips ?? [])
    if (spans.length === 0 || uses.length === 0) continue
    const part: FamilyPart = { input, uses, family, spans, before, findings }
    const holders = holdersOf(part)
    const result = assignAddresses({
      family,
      spans,
      excluded: excludedFrom(own, input.endpoints),
      names: holders.names,
      pins: holders.pins,
      locked: holders.locked,
      keeps: () => false,
    })
    report(part, result, holders)
    const given = new Map(holders.names.map((name, at) => [name, result.given[at]]))
    for (const use of uses) {
      const value = given.get(holders.holderOf(use))
      if (value === undefined) continue
      slotVips.push({ slot: use.name, address: formatValue(family, value), shared: !use.alone })
    }
    for (const group of new Set(uses.filter(({ alone }) => !alone).map((use) => use.group))) {
      const value = given.get(groupName(group))
      if (value !== undefined) groupVips[group] = [...(groupVips[group] ?? []), formatValue(family, value)]
    }
  }
  return { groupVips, slotVips: inSlotOrder(slotVips, uses), findings }
}

interface FamilyPart {
  readonly input: VipInput
  readonly uses: readonly SlotUse[]
  readonly family: Family
  readonly spans: readonly Range[]
  readonly before: LockedVips
  readonly findings: Finding[]
}

interface LockedVips {
  readonly group: ByFamily
  readonly slot: ByFamily
}

interface VipHolders {
  readonly names: readonly string[]
  readonly pins: ReadonlyMap<string, bigint>
  readonly locked: ReadonlyMap<string, bigint>
  /** Whose address a slot has: its own, or that of its group. */
  readonly holderOf: (use: SlotUse) => string
}

const groupName = (group: string): string => `group ${group}`

function holdersOf(part: FamilyPart): VipHolders {
  const { uses, family, before } = part
  const pinOf = pinsOf(part)
  const names: string[] = []
  const pins = new Map<string, bigint>()
  const locked = new Map<string, bigint>()
  const holder = new Map<string, string>()
  const add = (name: string, pin: bigint | undefined, lock: bigint | undefined): void => {
    if (!names.includes(name)) names.push(name)
    if (pin !== undefined && !pins.has(name)) pins.set(name, pin)
    if (lock !== undefined) locked.set(name, lock)
  }
  for (const use of uses.filter(({ alone }) => !alone)) {
    const shared = before.group[family].get(use.group)
    const pin = pinOf.get(use.name)
    const group = groupName(use.group)
    // The first pin speaks for the group, until the lock does; another pin is for its own slot.
    const leader = shared ?? pins.get(group) ?? pin
    if (pin === undefined || pin === leader) {
      add(group, pin, shared)
      holder.set(use.name, group)
    } else {
      const own = `${group} at ${pin}`
      add(own, pin, undefined)
      holder.set(use.name, own)
    }
  }
  for (const { name } of uses.filter(({ alone }) => alone)) {
    add(name, pinOf.get(name), before.slot[family].get(name))
  }
  // Who alone held an address and is gone still holds it; an API that is gone had that of its group.
  const shared = new Set(before.group[family].values())
  const asking = new Set(uses.map(({ name }) => name))
  for (const [name, value] of before.slot[family]) {
    if (!asking.has(name) && !shared.has(value)) locked.set(name, value)
  }
  return { names, pins, locked, holderOf: (use) => holder.get(use.name) ?? use.name }
}

/** The pins of this family; one outside the pool is a finding. */
function pinsOf({ input, uses, family, spans, findings }: FamilyPart): ReadonlyMap<string, bigint> {
  const { cloud, wish, pins, locate } = input
  const pinned = new Map<string, bigint>()
  if (!pins) return pinned
  for (const { name } of uses) {
    for (const { family: own, value } of cloud.pinnedVips.get(name) ?? []) {
      if (own !== family) continue
      if (spans.some(({ first, last }) => first <= value && value <= last)) pinned.set(name, value)
      else {
        const facts = {
          owner: wish.owner,
          slot: name,
          address: formatValue(family, value),
          spans: spans.map(formatRange).join(', '),
        }
        findings.push(finding(vipOutsidePool, facts, { where: locate(slotPath(cloud, name)) }))
      }
    }
  }
  return pinned
}

function slotPath({ cloud }: CloudRequest, slot: string): Path {
  return [...cloud.path, 'vips', slot]
}

function report({ input, uses, spans, findings }: FamilyPart, result: AddressGrants, holders: VipHolders): void {
  const { wish, cloud, locate, subnets, endpoints } = input
  const slotsOf = (holder: string): readonly string[] =>
    uses.filter((use) => holders.holderOf(use) === holder).map(({ name }) => name)
  const words = (holder: string): string => `${wish.cloud.name} ${slotsOf(holder)[0] ?? holder}`
  for (const { name, holder, address } of result.clashes) {
    const [a, b] = [words(holder), words(name)]
    const free = result.free()
    const facts = {
      a,
      b,
      address: formatAddress(address),
      free: free === undefined ? undefined : formatValue(address.family, free),
    }
    const paths = [holder, name].map((one) => slotPath(cloud, slotsOf(one)[0] ?? one))
    const owners = [formatOwner(a, paths[0], locate), formatOwner(b, paths[1], locate)]
    findings.push(finding(vipPortConflict, facts, { where: locate(paths[1]), owners }))
  }
  for (const { name, holder, address } of result.heldTwice) {
    const [a, b] = [words(holder), words(name)]
    findings.push(finding(lockConflict, { a, b, what: formatAddress(address) }, { owners: [a, b] }))
  }
  if (result.missing.length === 0) return
  const facts = {
    owner: wish.owner,
    needed: holders.names.length,
    available: capacity(spans, excludedFrom(subnets, endpoints)),
    slots: result.missing.flatMap(slotsOf).join(', '),
  }
  const where = locate(subnets[0]?.path ?? settingPathOrCloud(wish, 'subnets'))
  findings.push(finding(tooFewVips, facts, { where }))
}

function inSlotOrder(vips: readonly PlannedVip[], uses: readonly SlotUse[]): readonly PlannedVip[] {
  const rank = new Map(uses.map(({ name }, index) => [name, index]))
  return [...vips].sort((a, b) => (rank.get(a.slot) ?? 0) - (rank.get(b.slot) ?? 0))
}
