/**
 * Looks up an address or a name in a plan: the owner, what decided it, and what is free beside it.
 *
 * Pure, over a plan and the lock that it was planned with.
 */

import { getOwn } from '../api/collections.ts'
import { type FileLocation, formatWhere } from '../errors/finding.ts'
import { type Address, formatAddress, formatValue, parseAddress } from '../net/address.ts'
import { cidrContains, parseCidr, usableRange } from '../net/cidr.ts'
import { formatRange, parseRange, type Range, rangeContains, rangeSize, singleAddressRange } from '../net/range.ts'
import { firstFree, freeRanges, rangeSet, setSize } from '../net/range-set.ts'
import { type Path, settingPath } from '../site/site.ts'
import { holderKinds, type Lock, lockedNetwork } from './lock.ts'
import type { Plan, PlannedCloud, PlannedNetwork, PlannedSubnet } from './plan.ts'
import { slotServiceName } from './slots/service-names.ts'

export interface AddressAnswer {
  readonly kind: 'address'
  readonly address: string
  readonly cloud: string
  readonly namespace: string
  readonly network: string
  readonly subnet: string
  readonly segment?: string
  /** `nodes`, `pods`, `vips`, `hosts`, `gateway`, `reserved`, or absent between the spans. */
  readonly role?: string
  /** The span that it lies in. */
  readonly span?: string
  /** Slots, a node, a host, the gateway. Empty: free, or given out by an allocator at run time. */
  readonly holders: readonly string[]
  readonly free: Free
}

export interface Free {
  /** The nearest free addresses of the same span (or subnet). */
  readonly before?: string
  readonly after?: string
  /** How many addresses of the span (or subnet) are free, and how many there are. */
  readonly count: string
  readonly of: string
}

export interface NameAnswer {
  readonly kind: 'name'
  readonly name: string
  readonly addresses: readonly {
    readonly address: string
    readonly cloud: string
    readonly network: string
    readonly role: 'vip' | 'node' | 'host' | 'endpoint'
    readonly holder: string
  }[]
}

export interface ReservedAnswer {
  readonly kind: 'cluster'
  readonly address: string
  /** What the cluster uses it for. */
  readonly use: string
  readonly cidr: string
}

export type Answer = AddressAnswer | NameAnswer | ReservedAnswer

/**
 * Every subnet that contains the address (several clouds may share one), or the holders of a name.
 *
 * `held` are the addresses that objects of the cluster have: none of them is free, whatever the plan says.
 */
export function lookUp(plan: Plan, query: string, held: readonly string[] = []): readonly Answer[] {
  const address = parseAddress(query)
  return address ? [...findAddress(plan, address, held), ...findReserved(plan, address)] : findName(plan, query)
}

export interface Holder {
  readonly name: string
  readonly address: string
  readonly text: string
  readonly role: 'vip' | 'node' | 'host' | 'endpoint'
}

/** The holders of single addresses in a network. */
export function listHolders(network: PlannedNetwork): readonly Holder[] {
  const vips = network.vips.map(({ slot, address }) => ({ name: slot, address, text: slot, role: 'vip' as const }))
  const single = (role: 'node' | 'host' | 'endpoint', all: readonly { name: string; address: string }[]) =>
    all.map(({ name, address }) => ({ name, address, text: `${role} ${name}`, role }))
  return [
    ...vips,
    ...single('node', network.nodes),
    ...single('host', network.hosts),
    ...single('endpoint', network.endpoints),
  ]
}

function findAddress(plan: Plan, address: Address, held: readonly string[]): readonly AddressAnswer[] {
  return plan.clouds.flatMap((cloud) =>
    cloud.networks.flatMap((network) =>
      network.subnets
        .filter((subnet) => {
          const cidr = parseCidr(subnet.cidr)
          return cidr !== undefined && cidrContains(cidr, address)
        })
        .map((subnet) => answer(cloud, network, subnet, address, held)),
    ),
  )
}

function answer(
  cloud: PlannedCloud,
  network: PlannedNetwork,
  subnet: PlannedSubnet,
  address: Address,
  held: readonly string[],
): AddressAnswer {
  const text = formatAddress(address)
  const isGateway = subnet.gateway === text
  const isReserved = subnet.reserved.some(({ start, end }) => within(`${start}-${end}`, address))
  const span = subnet.spans.find(({ start, end }) => within(`${start}-${end}`, address))
  const holders = listHolders(network).filter((holder) => holder.address === text)
  const role = isGateway ? 'gateway' : isReserved ? 'reserved' : span?.role
  const area = span ? parseRange(`${span.start}-${span.end}`) : undefined
  const whole = area ?? usableRange(parseCidr(subnet.cidr) as NonNullable<ReturnType<typeof parseCidr>>)
  return {
    kind: 'address',
    address: text,
    cloud: cloud.name,
    namespace: cloud.namespace,
    network: network.name,
    subnet: subnet.cidr,
    ...(network.segment !== undefined && { segment: network.segment }),
    ...(role !== undefined && { role }),
    ...(area && { span: formatRange(area) }),
    holders: [...new Set([...(isGateway ? ['gateway'] : []), ...holders.map(({ text: words }) => words)])],
    free: describeFree(whole, address, takenRanges(network, subnet, area === undefined, held)),
  }
}

function within(range: string, address: Address): boolean {
  const read = parseRange(range)
  return read !== undefined && rangeContains(read, address)
}

/** What is not free: the addresses of holders in plan and cluster, and between the spans the spans themselves. */
function takenRanges(
  network: PlannedNetwork,
  subnet: PlannedSubnet,
  spansToo: boolean,
  held: readonly string[],
): readonly Range[] {
  const texts = [
    ...held,
    ...listHolders(network).map((holder) => holder.address),
    ...(subnet.gateway === undefined ? [] : [subnet.gateway]),
    ...subnet.reserved.map(({ start, end }) => `${start}-${end}`),
    ...(spansToo ? subnet.spans.map(({ start, end }) => `${start}-${end}`) : []),
  ]
  return rangeSet(texts.flatMap((text) => parseRange(text) ?? []))
}

function describeFree(whole: Range, address: Address, taken: readonly Range[]): Free {
  const { family, value } = address
  const set = rangeSet([...taken, singleAddressRange(address)])
  const after = value < whole.last ? firstFree({ ...whole, first: value + 1n }, set) : undefined
  const below = value > whole.first ? freeRanges({ ...whole, last: value - 1n }, set).at(-1) : undefined
  const left = setSize(freeRanges(whole, rangeSet(taken)))
  return {
    ...(below && { before: formatValue(family, below.last) }),
    ...(after && { after: formatValue(family, after.first) }),
    count: String(left),
    of: String(rangeSize(whole)),
  }
}

function findReserved({ from }: Plan, address: Address): readonly ReservedAnswer[] {
  const text = formatValue(address.family, address.value)
  return from.cluster.reserved
    .filter(({ cidr }) => within(cidr, address))
    .map(({ use, cidr }) => ({ kind: 'cluster', address: text, use, cidr }))
}

/**
 * A slot, node, host or endpoint by its name, or by a DNS name of a host; if none has it, by the first part of the
 * name (the slots of a service, a host without its domain) or by the Service of a slot; then by the beginning of that.
 */
function findName(plan: Plan, name: string): readonly NameAnswer[] {
  const meanings: readonly ((names: HolderNames) => boolean)[] = [
    ({ holder, dns }) => holder === name || dns.includes(name),
    ({ holder, service }) => holder.split('.')[0] === name || service === name,
    ({ service }) => service?.startsWith(`${name}-`) === true,
  ]
  for (const isMeant of meanings) {
    const addresses = listAddresses(plan, isMeant)
    if (addresses.length > 0) return [{ kind: 'name', name, addresses }]
  }
  return []
}

interface HolderNames {
  readonly holder: string
  readonly dns: readonly string[]
  readonly service: string | undefined
}

function listAddresses(plan: Plan, isMeant: (names: HolderNames) => boolean): NameAnswer['addresses'] {
  return plan.clouds.flatMap((cloud) => {
    const services = new Map(cloud.uses.map((use) => [use.name, slotServiceName(use)]))
    return cloud.networks.flatMap((network) => {
      const dns = new Map(network.hosts.map((host) => [host.address, host.names]))
      return listHolders(network)
        .filter(({ name, role, address }) =>
          isMeant({
            holder: name,
            dns: dns.get(address) ?? [],
            service: role === 'vip' ? services.get(name) : undefined,
          }),
        )
        .map(({ address, role, name: holder }) => ({ address, cloud: cloud.name, network: network.name, role, holder }))
    })
  })
}

/** Every name that can be looked up, to suggest one for a name that is mistyped. */
export function knownNames(plan: Plan): readonly string[] {
  const names = plan.clouds.flatMap(({ networks }) => networks.flatMap(listHolders)).map(({ name }) => name)
  return [...new Set(names)]
}

export type AddressOrigin =
  | { readonly kind: 'pinned'; readonly path: Path | undefined }
  | { readonly kind: 'locked' }
  /** The lowest free address; no lock has it yet. */
  | { readonly kind: 'chosen' }

/** What decided that a holder has an address; undefined for an address without a holder. */
export function findAddressOrigin(plan: Plan, before: Lock, answer: AddressAnswer): AddressOrigin | undefined {
  const { address } = answer
  const cloud = plan.clouds.find(({ name }) => name === answer.cloud)
  const network = cloud?.networks.find(({ name }) => name === answer.network)
  const holders = network ? listHolders(network).filter((holder) => holder.address === address) : []
  if (!cloud || !network || holders.length === 0) return undefined
  const pin = holders
    .map((holder) => findPin(holder, cloud, network))
    .find((pin) => pin && canonical(pin.written).includes(address))
  if (pin) return { kind: 'pinned', path: pin.path }
  return isInOldLock(before, answer) ? { kind: 'locked' } : { kind: 'chosen' }
}

/** Puts it into words; `locate` finds the place of a pin in the site file. */
export function explainOrigin(
  decided: AddressOrigin,
  { locate, lockFile }: { readonly locate: (path: Path) => FileLocation; readonly lockFile: string | undefined },
): string {
  if (decided.kind === 'locked') return `${lockFile ?? 'the lock'} has it`
  if (decided.kind === 'chosen') return 'it was the lowest free one; no lock has it yet'
  return decided.path ? `pinned at ${formatWhere(locate(decided.path))}` : 'pinned by the template of the network'
}

interface WrittenPin {
  readonly written: string | readonly string[] | undefined
  readonly path: Path | undefined
}

/** What the site file pins for this holder on this network. */
function findPin({ role, name }: Holder, { from }: PlannedCloud, network: PlannedNetwork): WrittenPin | undefined {
  const { file, path } = from
  if (role === 'vip') return { written: getOwn(file.vips, name), path: [...path, 'vips', name] }
  if (role === 'host') {
    const index = file.hosts?.findIndex((host) => host.name === name) ?? -1
    const written = getOwn(file.hosts?.[index]?.addresses, network.name)
    return { written, path: [...path, 'hosts', index, 'addresses', network.name] }
  }
  const settings = from.networks.find((cloudNetwork) => cloudNetwork.name === network.name)
  if (!settings) return undefined
  if (role === 'node')
    return { written: getOwn(settings.settings.nodes, name), path: settingPath(settings, 'nodes', name) }
  const index = settings.settings.endpoints?.findIndex((endpoint) => endpoint.name === name) ?? -1
  return { written: settings.settings.endpoints?.[index]?.address, path: settingPath(settings, 'endpoints', index) }
}

/** IPv6 addresses can be written in many ways. */
function canonical(written: WrittenPin['written']): readonly string[] {
  return [written ?? []].flat().flatMap((text) => {
    const address = parseAddress(text)
    return address ? [formatAddress(address)] : []
  })
}

function isInOldLock(before: Lock, { cloud, network, address }: AddressAnswer): boolean {
  const locked = lockedNetwork(before, cloud, network)
  return holderKinds.some((kind) =>
    Object.values(locked?.[kind] ?? {}).some((addresses) => addresses.includes(address)),
  )
}
