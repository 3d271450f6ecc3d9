/**
 * VLAN ids: who gets which tag on one NIC, and who asked for what cannot be.
 *
 * Pure. Knows owners by name only; files, clusters and subnets are other rooms.
 */

/** A VLAN id, or the NIC's untagged network. */
export type Tag = number | 'untagged'

/** What one owner asks for: a certain tag, the untagged network if it is to be had, or any free id. */
export interface TagWish {
  readonly owner: string
  readonly tag?: Tag | undefined
  /** Nobody insists: take untagged if nobody has it, an id otherwise. */
  readonly ratherUntagged?: boolean
  /** Owners with the same group share one tag when sharing is chosen. */
  readonly group?: string | undefined
}

/** What was granted before, by owner. Nothing in it moves, and nothing in it is given away. */
export type TagLock = ReadonlyMap<string, HeldTag>

export interface HeldTag {
  readonly tag: Tag
  /** As in the wish: an owner who is leaving has none. */
  readonly group?: string | undefined
}

export interface TagRange {
  readonly first: number
  readonly last: number
}

export type TagFinding =
  /** Two want one tag, and did not choose to share. */
  | {
      readonly kind: 'taken'
      readonly tag: Tag
      readonly owner: string
      readonly holder: string
      readonly free: number | undefined
    }
  /** Nobody pinned it, and the lock has it twice. */
  | { readonly kind: 'held twice'; readonly tag: Tag; readonly owner: string; readonly holder: string }
  | { readonly kind: 'exhausted'; readonly owner: string; readonly range: TagRange }

export interface TagGrants {
  readonly grants: ReadonlyMap<string, Tag>
  readonly findings: readonly TagFinding[]
}

export function assignTags(range: TagRange, wishes: readonly TagWish[], lock: TagLock): TagGrants {
  const book = openBook(range, wishes, lock)
  const grants = new Map<string, Tag>()
  const findings: TagFinding[] = []
  const refused: { readonly owner: string; readonly tag: Tag; readonly holder: string }[] = []

  // An owner who no longer asks may still run somewhere: what the lock names stays held.
  for (const [owner, { tag }] of lock) {
    const wanted = book.pinOf(owner)
    if (wanted !== undefined && wanted !== tag) continue
    const holder = book.stranger(owner, tag)
    // Two pins that clash are told below, as what they are.
    if (holder !== undefined && !(wanted === tag && book.pinOf(holder) === tag))
      findings.push({ kind: 'held twice', tag, owner, holder })
    book.hold(owner, tag)
  }

  for (const wish of inOrder(wishes, lock)) {
    const { owner } = wish
    const tag = wish.tag ?? lock.get(owner)?.tag ?? book.chosenFor(wish)
    if (tag === undefined) {
      findings.push({ kind: 'exhausted', owner, range })
      continue
    }
    const holder = book.stranger(owner, tag)
    // Who was refused keeps what he asked for: the rest of his plan is still worth a look.
    if (wish.tag !== undefined && holder !== undefined) refused.push({ owner, tag, holder })
    book.hold(owner, tag)
    grants.set(owner, tag)
  }

  // Only now is it known what stays free, so only now may a free id be offered.
  const free = book.lowestFree()
  for (const refusal of refused) findings.push({ kind: 'taken', ...refusal, free })
  return { grants, findings }
}

interface TagBook {
  readonly pinOf: (owner: string) => Tag | undefined
  readonly hold: (owner: string, tag: Tag) => void
  /** Who holds this tag and does not share it with the owner. */
  readonly stranger: (owner: string, tag: Tag) => string | undefined
  readonly lowestFree: () => number | undefined
  /** What somebody gets who insists on nothing: his group's tag, untagged if he likes it, or a free id. */
  readonly chosenFor: (wish: TagWish) => Tag | undefined
}

/** Who holds what, while it is being given out. */
function openBook(range: TagRange, wishes: readonly TagWish[], lock: TagLock): TagBook {
  const wishOf = new Map(wishes.map((wish) => [wish.owner, wish]))
  const holders = new Map<Tag, string>()
  const groups = new Map<string, Tag>()
  // Holders only come, so what was taken stays taken, and nobody looks at it twice.
  let lowest = range.first
  const lowestFree = (): number | undefined => {
    while (lowest <= range.last && holders.has(lowest)) lowest += 1
    return lowest <= range.last ? lowest : undefined
  }
  const groupOf = (owner: string): string | undefined => (wishOf.get(owner) ?? lock.get(owner))?.group
  return {
    pinOf: (owner) => wishOf.get(owner)?.tag,
    hold: (owner, tag) => {
      if (!holders.has(tag)) holders.set(tag, owner)
      const group = groupOf(owner)
      if (group !== undefined && !groups.has(group)) groups.set(group, tag)
    },
    stranger: (owner, tag) => {
      const holder = holders.get(tag)
      if (holder === undefined || holder === owner) return undefined
      const group = groupOf(owner)
      return group !== undefined && group === groupOf(holder) ? undefined : holder
    },
    lowestFree,
    chosenFor: ({ group, ratherUntagged }) => {
      const shared = group === undefined ? undefined : groups.get(group)
      return shared ?? (ratherUntagged && !holders.has('untagged') ? 'untagged' : lowestFree())
    },
  }
}

/** Whoever may choose freely must not take what somebody else has asked for by name, or has had before. */
function inOrder(wishes: readonly TagWish[], lock: TagLock): readonly TagWish[] {
  const rank = ({ owner, tag }: TagWish): number => (tag !== undefined ? 0 : lock.has(owner) ? 1 : 2)
  return [...wishes].sort((a, b) => rank(a) - rank(b))
}
