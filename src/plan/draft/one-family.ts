/** One family of one network, for nodes and hosts alike: their pins read, addresses given, troubles told. Pure. */
import { type Finding, finding } from '../../errors/finding.ts'
import { type Address, type Family, formatAddress, formatValue } from '../../net/address.ts'
import { cidrContains, createAddressFormatter, formatCidr } from '../../net/cidr.ts'
import type { Range } from '../../net/range.ts'
import type { Path, Site } from '../../site/site.ts'
import { formatOwner, type Locate } from '../address-reader.ts'
import type { CloudRequest } from '../cloud-wishes.ts'
import { duplicateAddress, otherFamily, spanOutside } from '../findings/addresses.ts'
import { lockConflict } from '../findings/lock.ts'
import type { LockedNetwork } from '../lock.ts'
import type { NetworkRequest } from '../requests.ts'
import { type AddressGrants, assignAddresses } from './addresses.ts'
import type { DraftSubnet, Stray } from './draft.ts'
import type { Placement } from './placement.ts'

export interface HolderInput {
  readonly site: Site
  readonly wish: NetworkRequest
  readonly cloud: CloudRequest
  readonly placement: Placement | undefined
  readonly dnsDomain: string
  readonly subnets: readonly DraftSubnet[]
  readonly locked: LockedNetwork | undefined
  /** The file's pins count; false for a network that stays as the lock has it. */
  readonly pins: boolean
  /** Addresses that the nodes have on shared subnets, from network to network. */
  readonly sharedNodes: Map<string, ReadonlyMap<string, bigint>>
  readonly locate: Locate
}

/** Who got what in one family. */
export interface Given {
  readonly names: readonly string[]
  /** In the order of the names; undefined where nothing was left. */
  readonly texts: readonly (string | undefined)[]
}

export interface FamilyInput {
  readonly input: HolderInput
  readonly family: Family
  readonly subnets: readonly DraftSubnet[]
  readonly excluded: readonly Range[]
  readonly findings: Finding[]
  readonly strays: Stray[]
}

interface Pin {
  readonly what: string
  readonly address: Address
  readonly path: Path | undefined
}

export function insideSome({ wish, subnets, locate }: HolderInput, findings: Finding[], pin: Pin): boolean {
  const { what, address, path } = pin
  const { owner } = wish
  if (subnets.some(({ cidr }) => cidrContains(cidr, address))) return true
  const where = locate(path)
  const sameFamily = subnets.filter(({ cidr }) => cidr.family === address.family)
  const cidrs = subnets.map(({ cidr }) => formatCidr(cidr)).join(', ')
  findings.push(
    sameFamily.length === 0 && subnets.length > 0
      ? finding(otherFamily, { owner, what, family: address.family, expected: `it has ${cidrs} only` }, { where })
      : finding(spanOutside, { owner, what, cidrs: cidrs || 'any subnet: there is none' }, { where }),
  )
  return false
}

export function textsOf({ subnets, family }: FamilyInput, { given }: AddressGrants): Given['texts'] {
  const [first] = subnets
  const format = first ? createAddressFormatter(first.cidr) : (value: bigint) => formatValue(family, value)
  return given.map((value) => (value === undefined ? undefined : format(value)))
}

interface Asked {
  readonly spans: readonly Range[]
  readonly names: readonly string[]
  readonly pins: ReadonlyMap<string, bigint>
  readonly locked: ReadonlyMap<string, bigint>
}

export function assignInFamily(part: FamilyInput, kind: 'nodes' | 'hosts', asked: Asked): AddressGrants {
  const { family, subnets, excluded, strays } = part
  const others = subnets.flatMap(({ spans }) =>
    Object.entries(spans).flatMap(([role, ranges]) => (role === kind ? [] : ranges)),
  )
  const inside = (ranges: readonly Range[], value: bigint): boolean =>
    ranges.some(({ first, last }) => first <= value && value <= last)
  const result = assignAddresses({
    family,
    excluded,
    ...asked,
    keeps: (value) =>
      subnets.some(({ cidr }) => cidrContains(cidr, { family, value })) &&
      !inside(others, value) &&
      !inside(excluded, value),
  })
  // Only who is pinned or locked can be outside his span.
  if (asked.pins.size > 0 || asked.locked.size > 0) {
    const role = kind === 'nodes' ? 'node' : 'host'
    asked.names.forEach((name, at) => {
      const value = result.given[at]
      if (value !== undefined && !inside(asked.spans, value)) strays.push({ role, name, address: { family, value } })
    })
  }
  return result
}

/** The pins of this family that lie in a subnet of the network; others are findings, told once. */
export function pinsOf(
  { input, family, findings }: FamilyInput,
  pinned: readonly { readonly name: string; readonly addresses: readonly Address[] }[],
  kind: string,
  pathFor: (name: string) => Path | undefined,
): ReadonlyMap<string, bigint> {
  const pins = new Map<string, bigint>()
  if (!input.pins) return pins
  const { subnets } = input
  const first = subnets[0]?.cidr.family
  for (const { name, addresses } of pinned) {
    for (const address of addresses) {
      const what = `${kind} ${name} ${formatAddress(address)}`
      const pin = { what, address, path: pathFor(name) }
      if (address.family !== family) {
        const foreign = !subnets.some(({ cidr }) => cidr.family === address.family)
        if (foreign && family === first) insideSome(input, findings, pin)
      } else if (insideSome(input, findings, pin)) pins.set(name, address.value)
    }
  }
  return pins
}

export function reportTroubles(
  { input, findings }: FamilyInput,
  kind: string,
  result: AddressGrants,
  pathFor: (name: string) => Path | undefined,
): void {
  const { wish, locate } = input
  for (const { name, holder, address } of result.clashes) {
    const [a, b] = [`${wish.owner} ${kind} ${holder}`, `${wish.owner} ${kind} ${name}`]
    const free = result.free()
    const offer = free === undefined ? undefined : formatValue(address.family, free)
    const owners = [formatOwner(a, pathFor(holder), locate), formatOwner(b, pathFor(name), locate)]
    const facts = { a, b, address: formatAddress(address), offer }
    findings.push(finding(duplicateAddress, facts, { where: locate(pathFor(name)), owners }))
  }
  for (const { name, holder, address } of result.heldTwice) {
    const [a, b] = [`${wish.owner} ${kind} ${holder}`, `${wish.owner} ${kind} ${name}`]
    findings.push(finding(lockConflict, { a, b, what: formatAddress(address) }, { owners: [a, b] }))
  }
}
