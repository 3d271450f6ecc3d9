/**
 * Indexes which owner holds which address on which segment, as the AddressBlocks in the API server say.
 *
 * Decides nothing. It may be behind the API server: a grant that was planned on an old block is refused there.
 */
import { createHash } from 'node:crypto'
import {
  type AddressBlock,
  type AddressHolder,
  addressBlocks,
  formatHolder,
  parseHolder,
} from '../../api/address-block.ts'
import type { ObjectMeta } from '../../api/object.ts'
import { type Address, type Family, formatAddress, parseAddress } from '../../net/address.ts'

/** 256 neighbours share a block, so that many grants are one write and a block stays a small object. */
const BLOCK_BITS = 8n
export const BLOCK_SIZE = 1n << BLOCK_BITS

/** An address on a segment: it is held at most once. */
export interface SegmentAddress extends Address {
  readonly segment: string
}

export function addressKey({ segment, family, value }: SegmentAddress): string {
  // Joined: a template would be kept as a tree of its parts, which takes twice the memory as a key.
  return [segment, family, value.toString(36)].join('|')
}

export interface HeldAddress {
  readonly address: SegmentAddress
  readonly holder: AddressHolder
}

/** `namespace/name` of the IPSet that holds or claims an address. */
export function ownerKey({ namespace, name }: Pick<AddressHolder, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`
}

export function isSameHolder(a: AddressHolder | undefined, b: AddressHolder | undefined): boolean {
  return a?.uid === b?.uid && a?.network === b?.network && a?.namespace === b?.namespace && a?.name === b?.name
}

export interface BlockId {
  readonly segment: string
  readonly family: Family
  /** The first address. */
  readonly first: bigint
}

export function blockContaining({ segment, family, value }: SegmentAddress): BlockId {
  return { segment, family, first: (value >> BLOCK_BITS) << BLOCK_BITS }
}

/** Identifies a block like its name does, without the cost of a hash. */
function blockKey({ segment, family, first }: BlockId): string {
  return `${segment}|${family}|${first.toString(36)}`
}

/**
 * The object's name. It depends on the segment and the address alone, so that two writers of one address meet in one
 * object. It must be a DNS name whatever the segment is called: a changed segment name carries a hash of the original.
 */
export function blockName({ segment, family, first }: BlockId): string {
  const plain = trimDashes(segment.toLowerCase().replace(/[^a-z0-9-]+/g, '-')).slice(0, 60)
  const suffix = plain === segment ? '' : `-${createHash('sha256').update(segment).digest('hex').slice(0, 12)}`
  const digits = first.toString(16).padStart(family === 4 ? 8 : 32, '0')
  return `${plain || 'segment'}${suffix}.${family === 4 ? 'v4' : 'v6'}-${digits}`
}

/** Walks from both ends: the segment is an annotation of a tenant, and an expression for its end is quadratic. */
function trimDashes(text: string): string {
  let start = 0
  let end = text.length
  while (text[start] === '-') start += 1
  while (end > start && text[end - 1] === '-') end -= 1
  return text.slice(start, end)
}

/** The addresses that are held in a block. Entries that are not addresses are ignored and kept. */
export function readHolders(block: AddressBlock): readonly HeldAddress[] {
  const { segment } = block.spec
  return Object.entries(block.spec.holders ?? {}).flatMap(([text, holder]) => {
    const address = parseAddress(text)
    return address ? [{ address: { segment, ...address }, holder: parseHolder(holder) }] : []
  })
}

/** A new holder of an address, or none. */
export interface LedgerChange {
  readonly address: SegmentAddress
  readonly holder: AddressHolder | undefined
  /** The claim that caused the change, as `namespace/name`. */
  readonly owner: string
}

/** The block after the changes, to be written on the version of `block`, or created. */
export function applyChanges(
  id: BlockId,
  block: AddressBlock | undefined,
  changes: readonly LedgerChange[],
): AddressBlock {
  const holders = { ...block?.spec.holders }
  for (const { address, holder } of changes) {
    const text = formatAddress(address)
    if (holder) holders[text] = formatHolder(holder)
    else delete holders[text]
  }
  return {
    ...(block ?? { ...addressBlocks, metadata: { name: blockName(id) } }),
    spec: { segment: id.segment, first: formatAddress({ family: id.family, value: id.first }), holders },
  }
}

export function groupByBlock<T extends { readonly address: SegmentAddress }>(
  items: readonly T[],
): ReadonlyMap<string, { readonly id: BlockId; readonly items: readonly T[] }> {
  const groups = new Map<string, { readonly id: BlockId; readonly items: T[] }>()
  for (const item of items) {
    const id = blockContaining(item.address)
    const key = blockKey(id)
    const group = groups.get(key)
    if (group) group.items.push(item)
    else groups.set(key, { id, items: [item] })
  }
  return groups
}

export interface Ledger {
  readonly holder: (address: SegmentAddress) => AddressHolder | undefined
  /** The addresses held under a name, whichever UID holds them. */
  readonly heldBy: (owner: string) => readonly HeldAddress[]
  readonly all: () => Iterable<HeldAddress>
  /** The block as it was last seen, with the version to write it on. */
  readonly block: (id: BlockId) => AddressBlock | undefined
  /** What identifies the last seen version of a block. */
  readonly version: (name: string) => Pick<ObjectMeta, 'uid' | 'resourceVersion'> | undefined
  /** Replaces a block; returns the entries that it no longer has. */
  readonly load: (block: AddressBlock) => readonly HeldAddress[]
  readonly drop: (name: string) => readonly HeldAddress[]
  /** The addresses that are held in a range of a segment, block by block. */
  readonly heldIn: (first: SegmentAddress, last: bigint) => Iterable<HeldAddress>
  /** The held addresses of a block by their distance from its first. */
  readonly heldInBlock: (id: BlockId) => ReadonlyMap<number, HeldAddress>
}

/** A block without its holders: they are kept as entries, and their texts would take as much again. */
interface StoredBlock {
  readonly object: AddressBlock
  /** By distance from the first address. */
  readonly held: ReadonlyMap<number, HeldAddress>
  /** Entries of addresses that belong to another block, or that this program would write in another form. */
  readonly strays: readonly HeldAddress[]
  /** The texts of strays, and of entries that are no addresses. */
  readonly texts: Readonly<Record<string, string>>
}

const noneHeld: ReadonlyMap<number, HeldAddress> = new Map()

export function createLedger(): Ledger {
  const blocks = new Map<string, StoredBlock>()
  /** The blocks of each segment and family, by their first address. */
  const segments = new Map<string, Map<bigint, StoredBlock>>()
  /** Lists, because a host has few addresses. */
  const heldByOwner = new Map<string, readonly HeldAddress[]>()
  /** By address, of all blocks: there are none unless another program wrote them. */
  const strays = new Map<string, HeldAddress>()

  const find = ({ segment, family, first }: BlockId): StoredBlock | undefined =>
    segments.get(segmentKey(segment, family))?.get(first)

  const othersOf = (owner: string, { segment, family, value }: SegmentAddress): readonly HeldAddress[] =>
    (heldByOwner.get(owner) ?? []).filter(
      ({ address }) => address.value !== value || address.family !== family || address.segment !== segment,
    )
  const remove = ({ address, holder }: HeldAddress): void => {
    const owner = ownerKey(holder)
    const others = othersOf(owner, address)
    if (others.length > 0) heldByOwner.set(owner, others)
    else heldByOwner.delete(owner)
  }
  const insert = (entry: HeldAddress): void => {
    const owner = ownerKey(entry.holder)
    heldByOwner.set(owner, [...othersOf(owner, entry.address), entry])
  }
  /** Addresses share the texts of their owner and of their neighbour: a part of a text keeps the whole in memory. */
  const readHolder = (text: string, neighbour: AddressHolder | undefined): AddressHolder => {
    const { namespace, name, network, uid } = parseHolder(text)
    const [known] = heldByOwner.get(ownerKey({ namespace, name })) ?? []
    const owner = known?.holder.uid === uid ? known.holder : undefined
    return {
      uid: owner?.uid ?? copyText(uid),
      namespace: neighbour?.namespace === namespace ? neighbour.namespace : copyText(namespace),
      name: owner?.name ?? copyText(name),
      network: neighbour?.network === network ? neighbour.network : copyText(network),
    }
  }
  const isInPlace = (name: string, id: BlockId, before: StoredBlock | undefined): boolean =>
    before !== undefined && find(id) === before ? true : blockName(id) === name

  const read = (name: string, object: AddressBlock, before: StoredBlock | undefined): StoredBlock => {
    const segment =
      before?.object.spec.segment === object.spec.segment ? before.object.spec.segment : object.spec.segment
    const held = new Map<number, HeldAddress>()
    const strayEntries: HeldAddress[] = []
    const texts: Record<string, string> = {}
    let place: { readonly id: BlockId; readonly isHere: boolean } | undefined
    let neighbour: AddressHolder | undefined
    for (const [text, holderText] of Object.entries(object.spec.holders ?? {})) {
      const parsed = parseAddress(text)
      if (!parsed) {
        texts[text] = holderText
        continue
      }
      const first = (parsed.value >> BLOCK_BITS) << BLOCK_BITS
      if (place?.id.first !== first || place.id.family !== parsed.family) {
        const id = { segment, family: parsed.family, first }
        place = { id, isHere: isInPlace(name, id, before) }
      }
      const distance = Number(parsed.value - first)
      const known = before?.held.get(distance)
      // Entries that stay are kept: with a copy of each per write, the ledger would be half as large again.
      if (place.isHere && known && formatHolder(known.holder) === holderText) {
        held.set(distance, known)
        neighbour = known.holder
        continue
      }
      const entry = { address: { segment, ...parsed }, holder: readHolder(holderText, neighbour) }
      neighbour = entry.holder
      if (place.isHere && formatAddress(parsed) === text && formatHolder(entry.holder) === holderText) {
        held.set(distance, entry)
      } else {
        strayEntries.push(entry)
        texts[text] = holderText
      }
    }
    const stripped = { ...object, spec: { ...object.spec, holders: {} } }
    return { object: stripped, held, strays: strayEntries, texts }
  }

  const entriesOf = (block: StoredBlock | undefined): readonly HeldAddress[] =>
    block ? [...block.held.values(), ...block.strays] : []

  const replace = (name: string, object: AddressBlock | undefined): readonly HeldAddress[] => {
    const before = blocks.get(name)
    const after = object && read(name, object, before)
    const kept = new Set(entriesOf(after))
    const known = new Set(entriesOf(before))
    const gone = [...known].filter((entry) => !kept.has(entry))
    for (const entry of gone) remove(entry)
    for (const entry of before?.strays ?? []) strays.delete(addressKey(entry.address))
    for (const entry of kept) if (!known.has(entry)) insert(entry)
    for (const entry of after?.strays ?? []) strays.set(addressKey(entry.address), entry)
    file(name, before, after)
    // A stray is read again each time: it is gone only if its address has another holder.
    return gone.filter(({ address, holder }) => !isSameHolder(findHolder(address), holder))
  }

  const file = (name: string, before: StoredBlock | undefined, after: StoredBlock | undefined): void => {
    if (after) blocks.set(name, after)
    else blocks.delete(name)
    const [entry] = (after?.held.size ? after : before)?.held.values() ?? []
    if (!entry) return
    const { segment, family } = entry.address
    const key = segmentKey(segment, family)
    const { first } = blockContaining(entry.address)
    const inSegment = segments.get(key) ?? new Map<bigint, StoredBlock>()
    if (after?.held.size) segments.set(key, inSegment.set(first, after))
    else if (inSegment.delete(first) && inSegment.size === 0) segments.delete(key)
  }

  const findHolder = (address: SegmentAddress): AddressHolder | undefined => {
    const id = blockContaining(address)
    const entry = find(id)?.held.get(Number(address.value - id.first))
    return (entry ?? (strays.size > 0 ? strays.get(addressKey(address)) : undefined))?.holder
  }

  return {
    holder: findHolder,
    heldBy: (owner) => heldByOwner.get(owner) ?? [],
    all: function* () {
      for (const block of blocks.values()) {
        yield* block.held.values()
        yield* block.strays
      }
    },
    block: (id) => {
      // A block that holds nothing in its place is found by its name.
      const found = find(id) ?? blocks.get(blockName(id))
      return found && withHolders(found)
    },
    version: (name) => blocks.get(name)?.object.metadata,
    load: (block) => replace(block.metadata.name, block),
    drop: (name) => replace(name, undefined),
    heldIn: function* (first, last) {
      const { segment, family } = first
      const isInRange = ({ address }: HeldAddress): boolean => address.value >= first.value && address.value <= last
      const inSegment = segments.get(segmentKey(segment, family)) ?? new Map<bigint, StoredBlock>()
      const start = blockContaining(first).first
      // A large range has more blocks than the segment.
      if ((last - start) / BLOCK_SIZE > BigInt(inSegment.size)) {
        for (const { held } of inSegment.values()) for (const entry of held.values()) if (isInRange(entry)) yield entry
      } else {
        for (let value = start; value <= last; value += BLOCK_SIZE) {
          for (const entry of inSegment.get(value)?.held.values() ?? []) if (isInRange(entry)) yield entry
        }
      }
      for (const entry of strays.values()) {
        if (entry.address.segment === segment && entry.address.family === family && isInRange(entry)) yield entry
      }
    },
    heldInBlock: (id) => find(id)?.held ?? noneHeld,
  }
}

function segmentKey(segment: string, family: Family): string {
  return `${family} ${segment}`
}

/** The block as it is stored. */
function withHolders({ object, held, texts }: StoredBlock): AddressBlock {
  const holders = { ...texts }
  for (const { address, holder } of held.values()) holders[formatAddress(address)] = formatHolder(holder)
  return { ...object, spec: { ...object.spec, holders } }
}

function copyText(text: string): string {
  return Buffer.from(text).toString()
}
