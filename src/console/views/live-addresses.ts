/** Compares the addresses of one planned subnet with what the cluster has: one mark per address, with its state. Pure. */
import { groupBy } from '../../api/collections.ts'
import { parseAddress } from '../../net/address.ts'
import { type Cidr, cidrContains } from '../../net/cidr.ts'
import { rangeContains } from '../../net/range.ts'
import { type Holder, listHolders } from '../../plan/lookup.ts'
import { type PlannedCloud, type PlannedNetwork, type PlannedSubnet, parseAddressRange } from '../../plan/plan.ts'
import { slotServiceName } from '../../plan/slots/service-names.ts'
import type { HeldAddress } from '../../verify/held-addresses.ts'
import type { AddressMark } from '../documents/addresses.ts'

export interface SubnetAddresses {
  readonly cloud: PlannedCloud
  readonly network: PlannedNetwork
  readonly subnet: PlannedSubnet
  readonly cidr: Cidr
}

/** What the cluster has, by address and by holder. */
export interface LiveAddresses {
  readonly byAddress: ReadonlyMap<string, readonly HeldAddress[]>
  /** Addresses of a Service by `namespace/name`. */
  readonly byService: ReadonlyMap<string, readonly string[]>
  /** Whether addresses of nodes were read: without nmstate's objects the cluster does not say which they have. */
  readonly knowsNodes: boolean
  /** Sorted by address, to find those of one subnet. */
  readonly sorted: readonly { readonly value: bigint; readonly family: 4 | 6; readonly address: string }[]
}

export function indexHeldAddresses(held: readonly HeldAddress[]): LiveAddresses {
  const byAddress = groupBy(held, ({ address }) => address)
  const services = groupBy(
    held.filter(({ by }) => by === 'service'),
    ({ holder }) => holder.replace(/^Service /, ''),
  )
  // A Node has an address per family of its own; more come from nmstate.
  const nodes = groupBy(
    held.filter(({ by }) => by === 'node'),
    ({ holder }) => holder,
  )
  const sorted = [...byAddress.keys()].flatMap((address) => {
    const parsed = parseAddress(address)
    return parsed ? [{ value: parsed.value, family: parsed.family, address }] : []
  })
  sorted.sort((a, b) => a.family - b.family || (a.value < b.value ? -1 : a.value > b.value ? 1 : 0))
  return {
    byAddress,
    byService: new Map([...services].map(([name, list]) => [name, list.map(({ address }) => address)])),
    knowsNodes: [...nodes.values()].some((addresses) => addresses.length > 2),
    sorted,
  }
}

/** The live addresses in a subnet, by binary search: a site has many subnets. */
function heldWithin({ sorted }: LiveAddresses, cidr: Cidr): readonly string[] {
  const isBefore = (entry: LiveAddresses['sorted'][number]): boolean =>
    entry.family < cidr.family || (entry.family === cidr.family && entry.value < cidr.base)
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    const entry = sorted[middle]
    if (entry && isBefore(entry)) low = middle + 1
    else high = middle
  }
  const found: string[] = []
  for (let index = low; index < sorted.length; index += 1) {
    const entry = sorted[index]
    if (!entry || !cidrContains(cidr, entry)) break
    found.push(entry.address)
  }
  return found
}

export interface Mark extends Omit<AddressMark, 'position'> {
  readonly value: bigint
}

/** One mark per address with a planned or a live holder, sorted by address. */
export function compareAddresses(place: SubnetAddresses, live: LiveAddresses | undefined): readonly Mark[] {
  const { network, subnet, cidr } = place
  const planned = groupBy(
    listHolders(network).filter(({ address }) => {
      const parsed = parseAddress(address)
      return parsed !== undefined && cidrContains(cidr, parsed)
    }),
    ({ address }) => address,
  )
  const gateway = subnet.gateway === undefined ? [] : [subnet.gateway]
  const addresses = new Set([...planned.keys(), ...gateway, ...(live ? heldWithin(live, cidr) : [])])
  const marks = [...addresses].flatMap((address): readonly Mark[] => {
    const parsed = parseAddress(address)
    if (!parsed) return []
    const holders = planned.get(address) ?? []
    const held = live?.byAddress.get(address) ?? []
    const isGateway = subnet.gateway === address
    return [
      {
        id: address,
        value: parsed.value,
        kind: isGateway ? 'gateway' : (holders[0]?.role ?? liveKinds[held[0]?.by ?? 'pod']),
        planned: [...(isGateway ? ['gateway'] : []), ...new Set(holders.map(({ text }) => text))],
        live: [...new Set(held.map(({ holder }) => holder))],
        ...judgeAddress(place, { address, value: parsed.value, holders, held, isGateway }, live),
      },
    ]
  })
  return marks.sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0))
}

const liveKinds = { service: 'service', pod: 'pod', host: 'host', node: 'node' } as const

interface OneAddress {
  readonly address: string
  readonly value: bigint
  readonly holders: readonly Holder[]
  readonly held: readonly HeldAddress[]
  readonly isGateway: boolean
}

type Judgement = Pick<AddressMark, 'state' | 'reason'>

function judgeAddress(place: SubnetAddresses, entry: OneAddress, live: LiveAddresses | undefined): Judgement {
  const { holders, held, isGateway } = entry
  if (!live) return { state: 'planned' }
  const owners = new Set(held.map(ownerKey))
  if (owners.size > 1) return { state: 'conflict', reason: `${held.map(({ holder }) => holder).join(' and ')} have it` }
  const [first] = held
  if (!first) return isGateway ? { state: 'planned' } : judgeUnheld(place, holders, live)
  if (holders.length > 0 || isGateway) return judgePlanned(place, entry, live)
  return judgeUnplanned(place, first, entry.value)
}

/** Services of one namespace may share an address. */
function ownerKey({ by, holder, namespace }: HeldAddress): string {
  return by === 'service' ? `Services of ${namespace}` : holder
}

/** Planned, and no object has it. An endpoint is a pod's own address, which the cluster does not record. */
function judgeUnheld({ cloud }: SubnetAddresses, holders: readonly Holder[], live: LiveAddresses): Judgement {
  const isUnknown = ({ role }: Holder): boolean => role === 'endpoint' || (role === 'node' && !live.knowsNodes)
  if (holders.every(isUnknown)) return { state: 'planned' }
  return findMoved(cloud, holders, live) ?? { state: 'unused', reason: 'planned, and nothing in the cluster has it' }
}

/** A Service whose planned address this is, and which has others. */
function findMoved(cloud: PlannedCloud, holders: readonly Holder[], live: LiveAddresses): Judgement | undefined {
  const planned = new Set(holders.map(({ address }) => address))
  for (const service of servicesFor(cloud, holders)) {
    const addresses = live.byService.get(`${cloud.namespace}/${service}`)
    if (addresses && !addresses.some((address) => planned.has(address)))
      return { state: 'differs', reason: `Service ${cloud.namespace}/${service} has ${addresses.join(', ')}` }
  }
  return undefined
}

function judgePlanned(
  { cloud }: SubnetAddresses,
  { holders, held, isGateway }: OneAddress,
  live: LiveAddresses,
): Judgement {
  const services = new Set(servicesFor(cloud, holders).map((name) => `Service ${cloud.namespace}/${name}`))
  const matches = (entry: HeldAddress): boolean =>
    holders.some(({ role, name }) => {
      if (role === 'vip') return entry.by === 'service' && (services.has(entry.holder) || services.size === 0)
      if (role === 'node') return entry.holder === `Node ${name}`
      return entry.namespace === cloud.namespace && entry.by === (role === 'host' ? 'host' : 'pod')
    })
  const strangers = held.filter((entry) => !matches(entry))
  const strangersMatter = held.length === strangers.length || strangers.some((entry) => entry.by !== 'service')
  if (strangers.length === 0 || (!strangersMatter && strangers.every(({ namespace }) => namespace === cloud.namespace)))
    return findMoved(cloud, holders, live) ?? { state: 'same' }
  const planned = isGateway ? 'the gateway' : holders.map(({ text }) => text).join(', ')
  return {
    state: 'differs',
    reason: `planned for ${planned}; ${strangers.map(({ holder }) => holder).join(', ')} has it`,
  }
}

const roleOf = { service: 'vips', pod: 'pods', host: 'hosts', node: 'nodes' } as const

/** Pods and hosts get their addresses at run time: theirs are right inside their span. */
function judgeUnplanned({ cloud, subnet }: SubnetAddresses, held: HeldAddress, value: bigint): Judgement {
  if (held.namespace !== undefined && held.namespace !== cloud.namespace)
    return { state: 'foreign', reason: `${held.holder} has it, and it belongs to cloud ${cloud.name}` }
  const planned = plannedFor(cloud, held)
  if (planned.length > 0)
    return { state: 'differs', reason: `${held.holder} has it, planned for it is ${planned.join(', ')}` }
  const role = roleOf[held.by]
  const isInside = subnet.spans.some((span) => {
    const range = parseAddressRange(span)
    return span.role === role && rangeContains(range, { family: range.family, value })
  })
  if (!isInside) return { state: 'outside', reason: `${held.holder} has it, outside the span for ${role}` }
  if (role === 'pods' || role === 'hosts') return { state: 'same' }
  return { state: 'foreign', reason: `${held.holder} has it, which is not planned` }
}

/** The addresses that the plan has for a Service. */
function plannedFor({ uses, networks }: PlannedCloud, { by, holder }: HeldAddress): readonly string[] {
  if (by !== 'service') return []
  const name = holder.slice(holder.indexOf('/') + 1)
  const slots = new Set(uses.filter((use) => slotServiceName(use) === name).map((use) => use.name))
  return networks.flatMap(({ vips }) => vips.filter(({ slot }) => slots.has(slot)).map(({ address }) => address))
}

function servicesFor({ uses }: PlannedCloud, holders: readonly Holder[]): readonly string[] {
  const names = new Set(holders.filter(({ role }) => role === 'vip').map(({ name }) => name))
  return uses.filter(({ name }) => names.has(name)).flatMap((use) => slotServiceName(use) ?? [])
}
