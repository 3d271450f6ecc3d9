/**
 * The address of each data plane host on one network.
 *
 * Pure. Hot: two hundred thousand hosts go through here, so whoever would get what the lock says anyway is given it
 * without asking.
 */

import { finding } from '../../errors/finding.ts'
import { formatConsecutive } from '../../net/cidr.ts'
import type { Range } from '../../net/range.ts'
import { freeRanges, rangeSet } from '../../net/range-set.ts'
import type { Path } from '../../site/site.ts'
import type { CloudRequest } from '../cloud-wishes.ts'
import { hostNames } from '../dns-names.ts'
import { tooFewHostAddresses } from '../findings/capacity.ts'
import type { HeldAddresses } from '../lock.ts'
import { getOwn } from '../own.ts'
import type { PlannedHostAddress } from '../plan.ts'
import { capacity } from './addresses.ts'
import { parseHeldAddresses } from './locked-addresses.ts'
import {
  assignInFamily,
  type FamilyInput,
  type Given,
  type HolderInput,
  pinsOf,
  reportTroubles,
  textsOf,
} from './one-family.ts'

export function hostsOf(part: FamilyInput): Given {
  const { input, family, subnets } = part
  const { wish, cloud, locate } = input
  const network = wish.network.name
  const spans = subnets.flatMap((subnet) => subnet.spans.hosts ?? [])
  const at = (name: string): Path | undefined => {
    const host = cloud.hosts.find((host) => host.name === name)
    return host && [...host.path, 'addresses', network]
  }
  const pins = pinsOf(part, cloud.pins.get(network) ?? [], 'host', at)
  const names = namesOn(cloud, network, spans.length > 0, pins)
  const { hosts: held, left } = input.locked ?? {}
  const fresh = pins.size === 0 && !left?.hosts ? freshTexts(part, spans, names.length) : undefined
  if (fresh && agrees(held, names, fresh)) return { names, texts: fresh }
  const locked = parseHeldAddresses(left?.hosts, held)[family]
  const result = assignInFamily(part, 'hosts', { spans, names, pins, locked })
  reportTroubles(part, 'host', result, at)
  if (result.missing.length > 0) {
    const facts = { owner: wish.owner, needed: names.length, available: capacity(spans, part.excluded) }
    const where = locate(subnets[0]?.path ?? [...wish.cloud.path, 'hosts'])
    part.findings.push(finding(tooFewHostAddresses, facts, { where }))
  }
  return { names, texts: textsOf(part, result) }
}

/** Dual stack: both addresses of a host side by side, under one list of names. */
export function hostList({ wish, dnsDomain }: HolderInput, families: readonly Given[]): readonly PlannedHostAddress[] {
  const listed: PlannedHostAddress[] = []
  const [first, second] = families
  if (!first) return listed
  const add = (host: string, names: readonly string[], given: Given, at: number): void => {
    const address = given.texts[at]
    if (address !== undefined) listed.push({ name: host, address, names })
  }
  const aligned = second !== undefined && second.names === first.names
  for (const [at, host] of first.names.entries()) {
    const names = hostNames(host, wish.network.name, dnsDomain)
    add(host, names, first, at)
    if (aligned) add(host, names, second, at)
  }
  if (!second || aligned) return listed
  for (const [at, host] of second.names.entries()) add(host, hostNames(host, wish.network.name, dnsDomain), second, at)
  return listed
}

/** Who is on the network. Usually everybody, and then it is one list for all networks and families. */
function namesOn(
  cloud: CloudRequest,
  network: string,
  hasSpan: boolean,
  pins: ReadonlyMap<string, bigint>,
): readonly string[] {
  if (hasSpan && cloud.everybody) return cloud.everybody
  return cloud.hosts
    .filter((host) => (host.networks ? host.networks.has(network) : hasSpan) || pins.has(host.name))
    .map(({ name }) => name)
}

/** Nobody is pinned and nobody was here before: everybody gets the next one, if they are enough. */
function freshTexts(
  { subnets, excluded }: FamilyInput,
  spans: readonly Range[],
  count: number,
): Given['texts'] | undefined {
  const [subnet] = subnets
  const [span, ...more] = spans
  if (!subnet || !span || more.length > 0) return undefined
  const texts: string[] = []
  for (const { first, last } of freeRanges(span, rangeSet(excluded))) {
    const room = last - first + 1n
    const missing = count - texts.length
    const own = room < BigInt(missing) ? Number(room) : missing
    texts.push(...formatConsecutive(subnet.cidr, first, own))
  }
  return texts.length === count ? texts : undefined
}

/** Whether the lock says nothing else: nobody was here, or everybody has what he would get anew. */
function agrees(held: HeldAddresses | undefined, names: readonly string[], texts: Given['texts']): boolean {
  if (!held || Object.keys(held).length === 0) return true
  return (
    Object.keys(held).length === names.length &&
    names.every((name, at) => getOwn(held, name)?.includes(texts[at] ?? '') === true)
  )
}
