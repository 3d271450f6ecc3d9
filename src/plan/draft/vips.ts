/**
 * Assigns the VIP of each slot on one network: APIs share one address, slots with conflicting ports have their own.
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
import { type LockedNetwork, parseLockedAddresses } from '../lock.ts'
import type { PlannedVip } from '../plan.ts'
import { type CloudRequest, type NetworkRequest, settingPathOrCloud } from '../requests.ts'
import { givesVips } from '../slots/slot-uses.ts'
import type { SlotUse } from '../slots/slots.ts'
import { type AddressAssignment, assignAddresses, countAddresses } from './addresses.ts'
import type { DraftEndpoint, DraftSubnet } from './draft.ts'
import { unassignable } from './holders.ts'

export interface VipInput {
  readonly request: NetworkRequest
  readonly cloud: CloudRequest
  readonly subnets: readonly DraftSubnet[]
  readonly endpoints: readonly DraftEndpoint[]
  readonly locked: LockedNetwork | undefined
  /** False for a network that stays as the lock has it, whatever the file pins. */
  readonly usePins: boolean
  readonly locate: Locate
}

export interface AssignedVips {
  /** The shared address of each group of slots. */
  readonly groupVips: Readonly<Record<string, readonly string[]>>
  readonly slotVips: readonly PlannedVip[]
  readonly findings: readonly Finding[]
}

interface FamilyInput {
  readonly input: VipInput
  readonly uses: readonly SlotUse[]
  readonly family: Family
  readonly spans: readonly Range[]
  readonly lockedGroups: ReadonlyMap<string, bigint>
  readonly lockedSlots: ReadonlyMap<string, bigint>
  readonly findings: Finding[]
}

export function assignVips(input: VipInput): AssignedVips {
  const { request, cloud, subnets, locked } = input
  const uses = cloud.uses.filter((use) => use.network === request.network.name)
  const findings: Finding[] = []
  const slotVips: PlannedVip[] = []
  const groupVips: Record<string, string[]> = {}
  const lockedGroups = parseLockedAddresses(locked?.vip)
  const lockedSlots = parseLockedAddresses(locked?.left?.vips, locked?.vips)
  for (const family of [4, 6] as const) {
    const familySubnets = subnets.filter((subnet) => subnet.cidr.family === family)
    const spans = familySubnets.flatMap((subnet) => subnet.spans.vips ?? [])
    if (spans.length === 0 || uses.length === 0) continue
    const part: FamilyInput = {
      input,
      uses,
      family,
      spans,
      lockedGroups: lockedGroups[family],
      lockedSlots: lockedSlots[family],
      findings,
    }
    const holders = listHolders(part)
    const excluded = unassignable(familySubnets, input.endpoints)
    const result = assignAddresses({ family, spans, excluded, ...holders, keepOutside: () => false })
    reportProblems(part, result, holders)
    const values = new Map(holders.names.map((name, index) => [name, result.values[index]]))
    for (const use of uses) {
      const value = values.get(holders.holderOf(use))
      if (value === undefined) continue
      slotVips.push({ slot: use.name, address: formatValue(family, value), shared: !use.alone })
    }
    for (const group of new Set(uses.filter(({ alone }) => !alone).map((use) => use.group))) {
      const value = values.get(groupHolder(group))
      if (value !== undefined) groupVips[group] = [...(groupVips[group] ?? []), formatValue(family, value)]
    }
  }
  if (uses.length > 0 && lacksVips(input)) findings.push(noVips(input, uses))
  return { groupVips, slotVips: inSlotOrder(slotVips, uses), findings }
}

/** A missing subnet, and a network that is to have no VIPs at all, are reported elsewhere. */
function lacksVips({ request: { network }, subnets }: VipInput): boolean {
  const hasSpan = subnets.some(({ spans }) => (spans.vips ?? []).length > 0)
  return !hasSpan && givesVips(network) && (subnets.length > 0 || network.settings.subnets?.length === 0)
}

/** A subnet can be so small, or divided so, that nothing is left for the role. */
function noVips({ request, subnets, locate }: VipInput, uses: readonly SlotUse[]): Finding {
  const alone = uses.filter((use) => use.alone)
  const groups = new Set(uses.filter((use) => !use.alone).map(({ group }) => group))
  const facts = {
    owner: request.owner,
    needed: alone.length + groups.size,
    available: 0,
    slots: uses.map(({ name }) => name).join(', '),
  }
  return finding(tooFewVips, facts, { where: locate(subnets[0]?.path ?? settingPathOrCloud(request, 'subnets')) })
}

interface VipHolders {
  readonly names: readonly string[]
  readonly pins: ReadonlyMap<string, bigint>
  readonly locked: ReadonlyMap<string, bigint>
  /** The holder of a slot's address: the slot itself, or its group. */
  readonly holderOf: (use: SlotUse) => string
}

const groupHolder = (group: string): string => `group ${group}`

function listHolders(part: FamilyInput): VipHolders {
  const { uses, lockedGroups, lockedSlots } = part
  const slotPins = checkPins(part)
  const names: string[] = []
  const pins = new Map<string, bigint>()
  const locked = new Map<string, bigint>()
  const holderBySlot = new Map<string, string>()
  const add = (name: string, pin: bigint | undefined, lock: bigint | undefined): void => {
    if (!names.includes(name)) names.push(name)
    if (pin !== undefined && !pins.has(name)) pins.set(name, pin)
    if (lock !== undefined) locked.set(name, lock)
  }
  for (const use of uses.filter(({ alone }) => !alone)) {
    const shared = lockedGroups.get(use.group)
    const pin = slotPins.get(use.name)
    const group = groupHolder(use.group)
    // The locked address is the group's, else the first pin; a slot with another pin has its own address.
    const groupAddress = shared ?? pins.get(group) ?? pin
    if (pin === undefined || pin === groupAddress) {
      add(group, pin, shared)
      holderBySlot.set(use.name, group)
    } else {
      const holder = `${group} at ${pin}`
      add(holder, pin, undefined)
      holderBySlot.set(use.name, holder)
    }
  }
  for (const { name } of uses.filter(({ alone }) => alone)) add(name, slotPins.get(name), lockedSlots.get(name))
  // A removed slot with its own address still holds it; a removed API had the address of its group.
  const shared = new Set(lockedGroups.values())
  const present = new Set(uses.map(({ name }) => name))
  for (const [name, value] of lockedSlots) {
    if (!present.has(name) && !shared.has(value)) locked.set(name, value)
  }
  return { names, pins, locked, holderOf: (use) => holderBySlot.get(use.name) ?? use.name }
}

/** The pins of this family by slot; a pin outside the pool is reported instead. */
function checkPins({ input, uses, family, spans, findings }: FamilyInput): ReadonlyMap<string, bigint> {
  const { cloud, request, usePins, locate } = input
  const pins = new Map<string, bigint>()
  if (!usePins) return pins
  for (const { name } of uses) {
    for (const pin of cloud.pinnedVips.get(name) ?? []) {
      const { value } = pin
      if (pin.family !== family) continue
      if (spans.some(({ first, last }) => first <= value && value <= last)) pins.set(name, value)
      else {
        const facts = {
          owner: request.owner,
          slot: name,
          address: formatValue(family, value),
          spans: spans.map(formatRange).join(', '),
        }
        findings.push(finding(vipOutsidePool, facts, { where: locate(slotPath(cloud, name)) }))
      }
    }
  }
  return pins
}

function slotPath({ cloud }: CloudRequest, slot: string): Path {
  return [...cloud.path, 'vips', slot]
}

function reportProblems(
  { input, uses, spans, findings }: FamilyInput,
  result: AddressAssignment,
  { names, holderOf }: VipHolders,
): void {
  const { request, cloud, locate, subnets, endpoints } = input
  const listSlots = (holder: string): readonly string[] =>
    uses.filter((use) => holderOf(use) === holder).map(({ name }) => name)
  const describe = (holder: string): string => `${request.cloud.name} ${listSlots(holder)[0] ?? holder}`
  for (const { name, holder, address } of result.pinConflicts) {
    const [a, b] = [describe(holder), describe(name)]
    const value = result.nextFree()
    const free = value === undefined ? undefined : formatValue(address.family, value)
    const [pathA, pathB] = [holder, name].map((owner) => slotPath(cloud, listSlots(owner)[0] ?? owner))
    const owners = [formatOwner(a, pathA, locate), formatOwner(b, pathB, locate)]
    const facts = { a, b, address: formatAddress(address), free }
    findings.push(finding(vipPortConflict, facts, { where: locate(pathB), owners }))
  }
  for (const { name, holder, address } of result.lockConflicts) {
    const [a, b] = [describe(holder), describe(name)]
    findings.push(finding(lockConflict, { a, b, what: formatAddress(address) }, { owners: [a, b] }))
  }
  if (result.missing.length === 0) return
  const facts = {
    owner: request.owner,
    needed: names.length,
    available: countAddresses(spans, unassignable(subnets, endpoints)),
    slots: result.missing.flatMap(listSlots).join(', '),
  }
  const where = locate(subnets[0]?.path ?? settingPathOrCloud(request, 'subnets'))
  findings.push(finding(tooFewVips, facts, { where }))
}

function inSlotOrder(vips: readonly PlannedVip[], uses: readonly SlotUse[]): readonly PlannedVip[] {
  const rank = new Map(uses.map(({ name }, index) => [name, index]))
  return [...vips].sort((a, b) => (rank.get(a.slot) ?? 0) - (rank.get(b.slot) ?? 0))
}
