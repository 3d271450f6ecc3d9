/**
 * The ledger in memory: who holds which address on which segment, as the blocks of the API server say.
 *
 * An index and nothing more: it is filled from blocks, it is asked, it decides nothing. What it says may be old; a
 * grant that was decided on old blocks is refused by the API server, never by this file.
 */
import type { AddressBlock, AddressHolder } from '../../api/address-block.ts'
import {
  addressKey,
  type BlockId,
  blockContaining,
  blockKey,
  blockName,
  isSameHolder,
  readHolders,
  type SegmentAddress,
} from './block.ts'

export interface HeldAddress {
  readonly spot: SegmentAddress
  readonly holder: AddressHolder
}

export interface Ledger {
  readonly holder: (spot: SegmentAddress) => AddressHolder | undefined
  /** Everything that is held under a name, by whatever UID. */
  readonly heldBy: (owner: string) => readonly HeldAddress[]
  readonly all: () => Iterable<HeldAddress>
  /** The block as it was last seen, with the version to write it by. */
  readonly block: (id: BlockId) => AddressBlock | undefined
  readonly blockByName: (name: string) => AddressBlock | undefined
  /** Takes a block in; tells who is not in it any more. */
  readonly load: (block: AddressBlock) => readonly HeldAddress[]
  readonly drop: (name: string) => readonly HeldAddress[]
  /** How many addresses of a block are held: a full one need not be searched. */
  readonly count: (id: BlockId) => number
}

export function ownerKey({ namespace, name }: Pick<AddressHolder, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`
}

export function createLedger(): Ledger {
  const blocks = new Map<string, { readonly object: AddressBlock; readonly held: ReadonlyMap<string, HeldAddress> }>()
  const holders = new Map<string, AddressHolder>()
  const owners = new Map<string, Map<string, HeldAddress>>()
  const names = new Map<string, string>()

  /** Asked for every grant: a name that needs a hash is made once. */
  const nameOf = (id: BlockId): string => {
    const key = blockKey(id)
    const name = names.get(key) ?? blockName(id)
    names.set(key, name)
    return name
  }

  const remove = (key: string, { holder }: HeldAddress): void => {
    holders.delete(key)
    const owned = owners.get(ownerKey(holder))
    owned?.delete(key)
    if (owned?.size === 0) owners.delete(ownerKey(holder))
  }
  const insert = (key: string, held: HeldAddress): void => {
    holders.set(key, held.holder)
    const owner = ownerKey(held.holder)
    const owned = owners.get(owner)
    if (owned) owned.set(key, held)
    else owners.set(owner, new Map([[key, held]]))
  }
  const replace = (name: string, object: AddressBlock | undefined): readonly HeldAddress[] => {
    const before = blocks.get(name)?.held ?? new Map<string, HeldAddress>()
    const after = new Map(object ? readHolders(object).map((held) => [addressKey(held.spot), held]) : [])
    const gone: HeldAddress[] = []
    for (const [key, held] of before) {
      const next = after.get(key)
      if (isSameHolder(next?.holder, held.holder)) continue
      remove(key, held)
      gone.push(held)
    }
    for (const [key, held] of after) if (!isSameHolder(before.get(key)?.holder, held.holder)) insert(key, held)
    if (object) blocks.set(name, { object, held: after })
    else blocks.delete(name)
    return gone
  }

  return {
    holder: (spot) => holders.get(addressKey(spot)),
    heldBy: (owner) => [...(owners.get(owner)?.values() ?? [])],
    all: function* () {
      for (const { held } of blocks.values()) yield* held.values()
    },
    block: (id) => blocks.get(nameOf(id))?.object,
    blockByName: (name) => blocks.get(name)?.object,
    load: (block) => replace(block.metadata.name, block),
    drop: (name) => replace(name, undefined),
    count: (id) => blocks.get(nameOf(id))?.held.size ?? 0,
  }
}

/** Held addresses of one block, by the block that they lie in. */
export function groupByBlock<T extends { readonly spot: SegmentAddress }>(
  all: readonly T[],
): ReadonlyMap<string, { readonly id: BlockId; readonly items: readonly T[] }> {
  const groups = new Map<string, { readonly id: BlockId; readonly items: T[] }>()
  for (const one of all) {
    const id = blockContaining(one.spot)
    const key = blockKey(id)
    const group = groups.get(key)
    if (group) group.items.push(one)
    else groups.set(key, { id, items: [one] })
  }
  return groups
}
