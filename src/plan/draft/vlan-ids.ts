/**
 * Assigns VLAN ids to the networks of one NIC.
 *
 * Pure. Knows networks only by owner ("rhoso1/internalapi"); it must not know files, clusters or subnets.
 */

/** A VLAN id, or the NIC's untagged network. */
export type Tag = number | 'untagged'

export interface TagRequest {
  readonly owner: string
  /** Set when the site file pins the tag. */
  readonly tag?: Tag | undefined
  /** Takes the untagged network while it is free, and an id otherwise. */
  readonly preferUntagged?: boolean
  /** Owners with the same group share one tag when sharing is chosen. */
  readonly group?: string | undefined
}

/** Tags assigned by earlier plans, by owner, including owners that are no longer in the site file. */
export type LockedTags = ReadonlyMap<string, LockedTag>

export interface LockedTag {
  readonly tag: Tag
  /** As in the request; an owner that left the site file has none. */
  readonly group?: string | undefined
}

export interface TagRange {
  readonly first: number
  readonly last: number
}

export type TagProblem =
  /** Two owners pin one tag and do not share it. */
  | {
      readonly kind: 'taken'
      readonly tag: Tag
      readonly owner: string
      readonly holder: string
      /** An id that is still free after all assignments, to suggest in the remedy. */
      readonly free: number | undefined
    }
  /** No pin asks for it, and the lock has it twice. */
  | { readonly kind: 'held twice'; readonly tag: Tag; readonly owner: string; readonly holder: string }
  | { readonly kind: 'exhausted'; readonly owner: string; readonly range: TagRange }

export interface TagAssignment {
  readonly tags: ReadonlyMap<string, Tag>
  readonly problems: readonly TagProblem[]
}

export function assignTags(range: TagRange, requests: readonly TagRequest[], locked: LockedTags): TagAssignment {
  const table = createTagTable(range, requests, locked)
  const tags = new Map<string, Tag>()
  const problems: TagProblem[] = []
  const refused: { readonly owner: string; readonly tag: Tag; readonly holder: string }[] = []

  // A network that left the site file may still be deployed, so its tag stays reserved.
  for (const [owner, { tag }] of locked) {
    const pin = table.pinOf(owner)
    if (pin !== undefined && pin !== tag) continue
    const holder = table.conflictingHolder(owner, tag)
    // Two pins that conflict are reported below as what they are.
    if (holder !== undefined && !(pin === tag && table.pinOf(holder) === tag))
      problems.push({ kind: 'held twice', tag, owner, holder })
    table.hold(owner, tag)
  }

  for (const request of inOrder(requests, locked)) {
    const { owner } = request
    const tag = request.tag ?? locked.get(owner)?.tag ?? table.choose(request)
    if (tag === undefined) {
      problems.push({ kind: 'exhausted', owner, range })
      continue
    }
    const holder = table.conflictingHolder(owner, tag)
    // The refused owner keeps its tag in the draft, so that the rest of its plan can still be checked.
    if (request.tag !== undefined && holder !== undefined) refused.push({ owner, tag, holder })
    table.hold(owner, tag)
    tags.set(owner, tag)
  }

  // Computed last: an id that is free now is free in the final plan.
  const free = table.lowestFree()
  for (const refusal of refused) problems.push({ kind: 'taken', ...refusal, free })
  return { tags, problems }
}

interface TagTable {
  readonly pinOf: (owner: string) => Tag | undefined
  readonly hold: (owner: string, tag: Tag) => void
  /** The owner that holds this tag and does not share it with `owner`. */
  readonly conflictingHolder: (owner: string, tag: Tag) => string | undefined
  readonly lowestFree: () => number | undefined
  /** For a request without a pin: the tag of its group, the untagged network if preferred, or a free id. */
  readonly choose: (request: TagRequest) => Tag | undefined
}

function createTagTable(range: TagRange, requests: readonly TagRequest[], locked: LockedTags): TagTable {
  const requestByOwner = new Map(requests.map((request) => [request.owner, request]))
  const holders = new Map<Tag, string>()
  const groups = new Map<string, Tag>()
  // Holders are only added, so the search never has to start again at the first id.
  let lowest = range.first
  const lowestFree = (): number | undefined => {
    while (lowest <= range.last && holders.has(lowest)) lowest += 1
    return lowest <= range.last ? lowest : undefined
  }
  const groupOf = (owner: string): string | undefined => (requestByOwner.get(owner) ?? locked.get(owner))?.group
  return {
    pinOf: (owner) => requestByOwner.get(owner)?.tag,
    hold: (owner, tag) => {
      if (!holders.has(tag)) holders.set(tag, owner)
      const group = groupOf(owner)
      if (group !== undefined && !groups.has(group)) groups.set(group, tag)
    },
    conflictingHolder: (owner, tag) => {
      const holder = holders.get(tag)
      if (holder === undefined || holder === owner) return undefined
      const group = groupOf(owner)
      return group !== undefined && group === groupOf(holder) ? undefined : holder
    },
    lowestFree,
    choose: ({ group, preferUntagged }) => {
      const shared = group === undefined ? undefined : groups.get(group)
      return shared ?? (preferUntagged && !holders.has('untagged') ? 'untagged' : lowestFree())
    },
  }
}

/** Pins first, then locked tags, so that a free choice never takes a tag that another owner asks for or has. */
function inOrder(requests: readonly TagRequest[], locked: LockedTags): readonly TagRequest[] {
  const rank = ({ owner, tag }: TagRequest): number => (tag !== undefined ? 0 : locked.has(owner) ? 1 : 2)
  return [...requests].sort((a, b) => rank(a) - rank(b))
}
