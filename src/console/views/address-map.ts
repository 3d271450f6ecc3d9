/** Builds the address map: every subnet as a bar of spans, and all addresses of one network. Pure. */
import type { Family } from '../../net/address.ts'
import { type Cidr, cidrRange, cidrSize, parseCidr } from '../../net/cidr.ts'
import { parseRange, type Range, rangeContains, rangeSize } from '../../net/range.ts'
import { freeRanges, rangeSet } from '../../net/range-set.ts'
import { findObstacles } from '../../plan/one-more-cloud.ts'
import {
  type AddressRange,
  type Plan,
  type PlannedCloud,
  type PlannedNetwork,
  type PlannedSpan,
  type PlannedSubnet,
  parseAddressRange,
} from '../../plan/plan.ts'
import type { AddressesDocument, NetworkDocument, SubnetBar } from '../documents/addresses.ts'
import { compareAddresses, indexHeldAddresses, type LiveAddresses, type Mark } from './live-addresses.ts'
import { commandLine, type PlannedSite, type ViewInput } from './view-input.ts'

type Body<T> = Omit<T, 'version' | 'notes'>

export function buildAddressMap(input: ViewInput): Body<AddressesDocument> {
  const { planned, live } = input
  const command = commandLine('plan', ...input.fileOptions)
  const empty = { command, clouds: [], networks: [], subnets: [], supernets: [], hasLive: live !== undefined }
  if (!planned) return { ...empty, oneMore: { fits: false, text: 'there is no site file' } }
  const { plan } = planned
  const held = live && indexHeldAddresses(live.held)
  const clouds = plan.clouds
    .map((cloud) => {
      const subnets = cloud.networks.flatMap((network) => buildBars(cloud, network, held).map(withoutMarks))
      return { cloud, subnets, fraction: Math.max(0, ...subnets.map(({ fraction }) => fraction)) }
    })
    .sort((a, b) => b.fraction - a.fraction)
  return {
    ...empty,
    clouds: clouds.map(({ cloud: { name, namespace }, fraction }) => ({ id: name, name, namespace, fraction })),
    networks: networkNames(plan),
    subnets: clouds.flatMap(({ subnets }) => subnets),
    supernets: buildSupernets(plan),
    oneMore: input.oneMore ?? judgeOneMore(planned),
  }
}

export function buildNetwork(
  input: ViewInput,
  cloudName: string,
  networkName: string,
): Body<NetworkDocument> | undefined {
  const cloud = input.planned?.plan.clouds.find(({ name }) => name === cloudName)
  const network = cloud?.networks.find(({ name }) => name === networkName)
  if (!cloud || !network) return undefined
  const { pool, sharingKey, mtu } = network
  const command = commandLine('plan', ...input.fileOptions, '-o', 'wide')
  return {
    command,
    cloud: cloudName,
    network: networkName,
    interface: network.interface,
    mtu,
    ...(pool !== undefined && { pool }),
    ...(sharingKey !== undefined && { sharingKey }),
    hasLive: input.live !== undefined,
    subnets: buildBars(cloud, network, input.live && indexHeldAddresses(input.live.held)),
  }
}

type FullBar = NetworkDocument['subnets'][number]

function buildBars(cloud: PlannedCloud, network: PlannedNetwork, live: LiveAddresses | undefined): readonly FullBar[] {
  return network.subnets.flatMap((subnet) => {
    const cidr = parseCidr(subnet.cidr)
    return cidr ? [buildBar({ cloud, network, subnet, cidr }, live)] : []
  })
}

type Run = { -readonly [Field in keyof SubnetBar['runs'][number]]: SubnetBar['runs'][number][Field] }

interface Place {
  readonly cloud: PlannedCloud
  readonly network: PlannedNetwork
  readonly subnet: PlannedSubnet
  readonly cidr: Cidr
}

/** As a part of the bar: less than an address of a /24. */
const GAP = 1 / 512
const harmless: ReadonlySet<Mark['state']> = new Set(['same', 'planned', 'unused'])

function buildBar(place: Place, live: LiveAddresses | undefined): FullBar {
  const { cloud, network, subnet, cidr } = place
  const marks = compareAddresses(place, live)
  const scale = createScale(cidr, subnet.spans, marks)
  const spans = subnet.spans.map((span) => buildSpan(span, marks, scale, live !== undefined))
  const { vlan = network.vlan } = subnet
  const problems = marks.filter(({ state }) => !harmless.has(state))
  return {
    id: `${cloud.name}/${network.name}/${subnet.name}`,
    cloud: cloud.name,
    network: network.name,
    subnet: subnet.name,
    cidr: subnet.cidr,
    family: cidr.family,
    ...(vlan !== undefined && { vlan }),
    ...(network.segment !== undefined && { segment: network.segment }),
    ...(subnet.gateway !== undefined && { gateway: subnet.gateway }),
    ...(network.pool !== undefined && { pool: network.pool }),
    size: String(cidrSize(cidr)),
    spans,
    reserved: subnet.reserved.map((range) => ({ id: `${range.start}-${range.end}`, ...range, ...scale.place(range) })),
    runs: listRuns(marks, scale),
    fraction: Math.max(0, ...spans.map(({ fraction }) => fraction)),
    unused: marks.filter(({ state }) => state === 'unused').length,
    problems: problems.length,
    marks: marks.map((mark) => placeMark(mark, scale)),
  }
}

function placeMark({ value, ...mark }: Mark, scale: Scale): FullBar['marks'][number] {
  return { ...mark, position: scale.position(value) }
}

function withoutMarks(full: FullBar): SubnetBar {
  const { marks: _, ...bar } = full
  return bar
}

interface Scale {
  readonly position: (value: bigint) => number
  readonly place: (range: AddressRange) => { readonly from: number; readonly to: number }
}

/** The whole subnet; of a large one the part below the power of two above the last address in use. */
function createScale(cidr: Cidr, spans: readonly PlannedSpan[], marks: readonly Mark[]): Scale {
  const last = [...spans.map((span) => parseAddressRange(span).last), ...marks.map(({ value }) => value)].reduce(
    (most, value) => (value > most ? value : most),
    cidr.base,
  )
  const size = cidrSize(cidr)
  let extent = 256n
  while (extent <= last - cidr.base) extent *= 2n
  if (extent > size || size <= 65_536n) extent = size
  const position = (value: bigint): number => {
    const fraction = Number(((value - cidr.base) * 1_000_000n) / extent) / 1_000_000
    return Math.min(1, Math.max(0, fraction))
  }
  const place = (range: AddressRange) => {
    const { first, last: end } = parseAddressRange(range)
    return { from: position(first), to: position(end + 1n) }
  }
  return { position, place }
}

function buildSpan(
  span: PlannedSpan,
  marks: readonly Mark[],
  scale: Scale,
  hasLive: boolean,
): SubnetBar['spans'][number] {
  const range = parseAddressRange(span)
  const inside = marks.filter(({ value }) => rangeContains(range, { family: range.family, value }))
  const planned = inside.filter((mark) => mark.planned.length > 0).length
  const live = inside.filter((mark) => mark.live.length > 0).length
  const size = rangeSize(range)
  return {
    id: `${span.role} ${span.start}`,
    role: span.role,
    start: span.start,
    end: span.end,
    ...scale.place(span),
    size: String(size),
    planned,
    ...(hasLive && { live }),
    fraction: Math.min(1, Math.max(planned, live) / Number(size)),
  }
}

/** Neighbours of one kind are one run; a gap that no screen shows does not part them, so that a bar has few runs. */
function listRuns(marks: readonly Mark[], scale: Scale): SubnetBar['runs'] {
  const runs: Run[] = []
  for (const mark of marks) {
    const [from, to] = [scale.position(mark.value), scale.position(mark.value + 1n)]
    const kind = {
      planned: mark.planned.length > 0,
      live: mark.live.length > 0,
      problem: !harmless.has(mark.state),
    }
    const last = runs.at(-1)
    const continues =
      last?.planned === kind.planned && last.live === kind.live && last.problem === kind.problem && from - last.to < GAP
    if (continues) last.to = to
    else runs.push({ from, to, ...kind })
  }
  return runs
}

function networkNames({ clouds }: Plan): readonly string[] {
  return [...new Set(clouds.flatMap(({ networks }) => networks.filter(({ subnets }) => subnets.length > 0)))].reduce<
    readonly string[]
  >((names, { name }) => (names.includes(name) ? names : [...names, name]), [])
}

/** By network: how many subnets its supernets have, and how many of them are free. */
function buildSupernets({ from, clouds }: Plan): AddressesDocument['supernets'] {
  const used = rangeSet([
    ...clouds.flatMap(({ networks }) => networks.flatMap(({ subnets }) => subnets.flatMap(readCidrRange))),
    ...from.cluster.reserved.flatMap(({ cidr }) => parseRange(cidr) ?? []),
  ])
  const settings = new Map(
    from.clouds.flatMap(({ networks }) => networks.map(({ name, settings }) => [name, settings])),
  )
  return [...settings].flatMap(([network, { supernets = [] }]) =>
    supernets.flat().flatMap((text) => {
      const range = parseRange(text)
      if (!range) return []
      const prefix = from.addressing.prefixLength[range.family]
      const size = blockSize(range.family, prefix)
      const total = rangeSize(range) / size
      const free = freeRanges(range, used).reduce((sum, part) => sum + wholeBlocks(part, size), 0n)
      return [
        {
          id: `${network} ${text}`,
          cidr: text,
          prefix,
          used: String(total - free),
          free: String(free),
          of: String(total),
        },
      ]
    }),
  )
}

function readCidrRange({ cidr }: PlannedSubnet): readonly Range[] {
  const parsed = parseCidr(cidr)
  return parsed ? [cidrRange(parsed)] : []
}

function blockSize(family: Family, prefix: number): bigint {
  return 1n << BigInt((family === 4 ? 32 : 128) - prefix)
}

/** Aligned blocks that lie completely in a range. */
function wholeBlocks({ first, last }: Range, size: bigint): bigint {
  const start = ((first + size - 1n) / size) * size
  const count = (last + 1n - start) / size
  return count > 0n ? count : 0n
}

/** Plans the site once more, so a caller that asks often keeps the answer for one plan. */
export function judgeOneMore({ plan, lock, locate }: PlannedSite): AddressesDocument['oneMore'] {
  const obstacles = findObstacles({ site: plan.from, lock, slots: plan.slots, locate })
  const [first] = obstacles
  if (!first) return { fits: true, text: 'one more cloud with default networks fits' }
  return { fits: false, text: first.message }
}
