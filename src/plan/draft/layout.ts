/**
 * Divides a subnet among the allocators when the site file does not.
 *
 * Pure. Offsets are digits as people write them at the end of an address: `80-90` is .80-.90 in IPv4 and ::80-::90
 * in IPv6, so that both families of a network look alike.
 */
import type { Family } from '../../net/address.ts'
import { type Cidr, cidrSize } from '../../net/cidr.ts'
import type { Range } from '../../net/range.ts'
import type { AllocatorRole } from '../../site/site.ts'
import { roles, type Spans } from '../requests.ts'

export interface Offsets {
  readonly first: bigint
  readonly last: bigint
}

export interface Layout {
  readonly roles: Readonly<Record<AllocatorRole, Readonly<Record<Family, readonly Offsets[]>>>>
  /** The size of a subnet that holds the whole layout. */
  readonly size: Readonly<Record<Family, bigint>>
}

/** Texts that are not offsets are left out; the check of the site file reports them. */
export function readLayout(texts: Readonly<Record<AllocatorRole, readonly string[]>>): Layout {
  const read = (role: AllocatorRole, family: Family): readonly Offsets[] =>
    texts[role].flatMap((text) => parseOffsets(text, family) ?? [])
  const both = (role: AllocatorRole) => ({ 4: read(role, 4), 6: read(role, 6) })
  const all = { nodes: both('nodes'), pods: both('pods'), vips: both('vips'), hosts: both('hosts') }
  const reach = (family: Family): bigint => {
    let size = 4n
    for (const role of roles) for (const { last } of all[role][family]) while (last > size - 2n) size *= 2n
    return size
  }
  return { roles: all, size: { 4: reach(4), 6: reach(6) } }
}

/** `80-90`, or one offset; undefined when it is neither. */
function parseOffsets(text: string, family: Family): Offsets | undefined {
  const [firstText = '', lastText = firstText, ...more] = text.split('-').map((part) => part.trim())
  const [first, last] = [parseOffset(firstText, family), parseOffset(lastText, family)]
  if (more.length > 0 || first === undefined || last === undefined || first > last) return undefined
  return { first, last }
}

function parseOffset(text: string, family: Family): bigint | undefined {
  if (!/^\d{1,9}$/.test(text)) return undefined
  return BigInt(family === 4 ? Number(text) : `0x${text}`)
}

/** The spans of one subnet. A subnet that is too small for the layout gets the same layout, scaled down. */
export function layoutSpans(cidr: Cidr, layout: Layout, requested: ReadonlySet<AllocatorRole>): Spans {
  const { family } = cidr
  const size = cidrSize(cidr)
  const standard = layout.size[family]
  const spans: Partial<Record<AllocatorRole, readonly Range[]>> = {}
  for (const role of roles) {
    if (!requested.has(role)) continue
    const offsets = layout.roles[role][family]
    spans[role] = offsets.flatMap((offset) => placeAt(cidr, size < standard ? scale(offset, size, standard) : offset))
  }
  return spans
}

function placeAt({ family, base }: Cidr, { first, last }: Offsets): readonly Range[] {
  return first <= last ? [{ family, first: base + first, last: base + last }] : []
}

function scale({ first, last }: Offsets, size: bigint, standard: bigint): Offsets {
  // Rounding both ends up keeps neighbours apart and small spans as large as possible.
  const up = (offset: bigint): bigint => (offset * size + standard - 1n) / standard
  const [start, end] = [up(first), up(last + 1n) - 1n]
  // The network's own address, the gateway after it and the broadcast address stay out.
  return { first: start < 2n ? 2n : start, last: end > size - 2n ? size - 2n : end }
}
