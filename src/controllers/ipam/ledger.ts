/**
 * The ledger in memory: who holds which address on which segment, as the blocks of the API server say.
 *
 * An index and nothing more: it is filled from blocks, it is asked, it decides nothing. What it says may be old; a
 * grant that was decided on old blocks is refused by the API server, never by this file.
 */
import type { AddressBlock, AddressHolder } from '../../api/address-block.ts'
import {
  type BlockId,
  blockKey,
  blockName,
  blockOf,
  holdersOf,
  type Spot,
  sameHolder,
  spotKey,
} from './block.ts'

export interface Held {
  readonly spot: Spot
  readonly holder: AddressHolder
}

export interface Ledger {
  readonly holder: (spot: Spot) => AddressHolder | undefined
  /** Everything that is held under a name, by whatever UID. */
  readonly heldBy: (owner: string) => readonly Held[]
  readonly all: () => Iterable<Held>
  /** The block as it was last seen, with the version to write it by. */
  readonly block: (id: BlockId) => AddressBlock | undefined
  readonly named: (name: string) => AddressBlock | undefined
  /** Takes a block in; tells who is not in it any more. */
  readonly load: (block: AddressBlock) => readonly Held[]
  readonly drop: (name: string) => readonly Held[]
  /** How many addresses of a block are held: a full one need not be searched. */
  readonly count: (id: BlockId) => number
}

export function ownerOf({ namespace, name }: Pick<AddressHolder, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`
}

export function createLedger(): Ledger {
  const blocks = new Map<
    string,
    { readonly object: AddressBlock; readonly held: ReadonlyMap<string, Held> }
  >()
  const holders = new Map<string, AddressHolder>()
  const owners = new Map<string, Map<string, Held>>()
  const names = new Map<string, string>()

  /** Asked for every grant: a name that needs a hash is made once. */
  const nameOf = (id: BlockId): string => {
    const key = blockKey(id)
    const name = names.get(key) ?? blockName(id)
    names.set(key, name)
    return name
  }

  const remove = (key: string, { holder }: Held): void => {
    holders.delete(key)
    const owned = owners.get(ownerOf(holder))
    owned?.delete(key)
    if (owned?.size === 0) owners.delete(ownerOf(holder))
  }
  const insert = (key: string, held: Held): void => {
    holders.set(key, held.holder)
    const owner = ownerOf(held.holder)
    const owned = owners.get(owner)
    if (owned) owned.set(key, held)
    else owners.set(owner, new Map([[key, held]]))
  }
  const replace = (name: string, object: AddressBlock | undefined): readonly Held[] => {
    const before = blocks.get(name)?.held ?? new Map<string, Held>()
    const after = new Map(object ? holdersOf(object).map((held) => [spotKey(held.spot), held]) : [])
    const gone: Held[] = []
    for (const [key, held] of before) {
      const next = after.get(key)
      if (sameHolder(next?.holder, held.holder)) continue
      remove(key, held)
      gone.push(held)
    }
    for (const [key, held] of after) if (!sameHolder(before.get(key)?.holder, held.holder)) insert(key, held)
    if (object) blocks.set(name, { object, held: after })
    else blocks.delete(name)
    return gone
  }

  return {
    holder: (spot) => holders.get(spotKey(spot)),
    heldBy: (owner) => [...(owners.get(owner)?.values() ?? [])],
    all: function* () {
      for (const { held } of blocks.values()) yield* held.values()
    },
    block: (id) => blocks.get(nameOf(id))?.object,
    named: (name) => blocks.get(name)?.object,
    load: (block) => replace(block.metadata.name, block),
    drop: (name) => replace(name, undefined),
    count: (id) => blocks.get(nameOf(id))?.held.size ?? 0,
  }
}

/** Held addresses of one block, by the block that they lie in. */
export function byBlock<T extends { readonly spot: Spot }>(
  all: readonly T[],
): ReadonlyMap<string, { readonly id: BlockId; readonly items: readonly T[] }> {
  const groups = new Map<string, { readonly id: BlockId; readonly items: T[] }>()
  for (const one of all) {
    const id = blockOf(one.spot)
    const key = blockKey(id)
    const group = groups.get(key)
    if (group) group.items.push(one)
    else groups.set(key, { id, items: [one] })
  }
  return groups
}
