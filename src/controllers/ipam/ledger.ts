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
  readonly blockByName: (name: string) => AddressBlock | undefined
  /** Replaces a block; returns the entries that it no longer has. */
  readonly load: (block: AddressBlock) => readonly HeldAddress[]
  readonly drop: (name: string) => readonly HeldAddress[]
  /** The addresses that are held in a range of a segment, block by block. */
  readonly heldIn: (first: SegmentAddress, last: bigint) => Iterable<HeldAddress>
  /** How many addresses of a block are held: a full block need not be searched. */
  readonly count: (id: BlockId) => number
}

const MAX_NAMES = 20_000

export function createLedger(): Ledger {
  const blocks = new Map<string, { readonly object: AddressBlock; readonly held: ReadonlyMap<string, HeldAddress> }>()
  const holders = new Map<string, AddressHolder>()
  /** Lists, because a host has few addresses. */
  const heldByOwner = new Map<string, readonly HeldAddress[]>()
  const names = new Map<string, string>()

  /** Called for every grant, so that a name with a hash is computed once. */
  const nameFor = (id: BlockId): string => {
    const key = blockKey(id)
    const name = names.get(key) ?? blockName(id)
    // Segments have names of tenants: each change of a NetConfig may bring another one.
    if (names.size >= MAX_NAMES) names.clear()
    names.set(key, name)
    return name
  }

  const othersOf = (owner: string, { segment, family, value }: SegmentAddress): readonly HeldAddress[] =>
    (heldByOwner.get(owner) ?? []).filter(
      ({ address }) => address.value !== value || address.family !== family || address.segment !== segment,
    )
  const remove = (key: string, { address, holder }: HeldAddress): void => {
    holders.delete(key)
    const owner = ownerKey(holder)
    const others = othersOf(owner, address)
    if (others.length > 0) heldByOwner.set(owner, others)
    else heldByOwner.delete(owner)
  }
  const insert = (key: string, entry: HeldAddress): void => {
    holders.set(key, entry.holder)
    const owner = ownerKey(entry.holder)
    heldByOwner.set(owner, [...othersOf(owner, entry.address), entry])
  }
  const replace = (name: string, object: AddressBlock | undefined): readonly HeldAddress[] => {
    const read = new Map(object ? readHolders(object).map((entry) => [addressKey(entry.address), entry]) : [])
    // Entries that stay are kept: with a copy of each per write, the ledger would be half as large again.
    const held = new Map<string, HeldAddress>()
    const removed: HeldAddress[] = []
    for (const [key, entry] of blocks.get(name)?.held ?? []) {
      if (isSameHolder(read.get(key)?.holder, entry.holder)) held.set(key, entry)
      else {
        remove(key, entry)
        removed.push(entry)
      }
    }
    for (const [key, entry] of read) {
      if (held.has(key)) continue
      insert(key, entry)
      held.set(key, entry)
    }
    if (object) blocks.set(name, { object, held })
    else blocks.delete(name)
    return removed
  }

  return {
    holder: (address) => holders.get(addressKey(address)),
    heldBy: (owner) => heldByOwner.get(owner) ?? [],
    all: function* () {
      for (const { held } of blocks.values()) yield* held.values()
    },
    block: (id) => blocks.get(nameFor(id))?.object,
    blockByName: (name) => blocks.get(name)?.object,
    load: (block) => replace(block.metadata.name, block),
    drop: (name) => replace(name, undefined),
    heldIn: function* (first, last) {
      const { segment, family } = first
      const inRange = ({ address }: HeldAddress): boolean =>
        address.segment === segment &&
        address.family === family &&
        address.value >= first.value &&
        address.value <= last
      const start = blockContaining(first).first
      // A large range has more blocks than exist.
      if ((last - start) / BLOCK_SIZE > BigInt(blocks.size)) {
        for (const { held } of blocks.values()) for (const entry of held.values()) if (inRange(entry)) yield entry
        return
      }
      for (let value = start; value <= last; value += BLOCK_SIZE) {
        const held = blocks.get(nameFor({ segment, family, first: value }))?.held.values() ?? []
        for (const entry of held) if (inRange(entry)) yield entry
      }
    },
    count: (id) => blocks.get(nameFor(id))?.held.size ?? 0,
  }
}
