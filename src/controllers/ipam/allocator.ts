/**
 * The allocator: collects what is asked for, decides about all of it at once, and writes each block that changes once.
 *
 * A grant counts when its block is written with the version that it was decided on. A block that somebody else wrote
 * first is read again, and who had a stake in it is decided again; what other blocks granted meanwhile stays theirs.
 * It knows claims and blocks, no IPSets.
 */
import type { AddressBlock } from '../../api/address-block.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/client.ts'
import { addressBlocks, type BlockId, blockName, type Change, changedBlock } from './block.ts'
import { type Claim, decide, liesIn, type Verdict } from './decide.ts'
import { byBlock, type Held, type Ledger, ownerOf } from './ledger.ts'

export interface AllocatorOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update'>
  readonly ledger: Ledger
  readonly fieldManager: string
  /** An owner who waited has got what it waited for. */
  readonly onServed: (owner: string) => void
}

export interface Allocator {
  /** Resolves when what could be granted is written. Who goes away empty is served when it can be. */
  readonly claim: (claim: Claim) => Promise<readonly Verdict[]>
  /** Gives back what is held under this name by UIDs that are gone. */
  readonly release: (owner: string, isGone: (uid: string) => boolean) => Promise<void>
  /** Addresses became free, by whatever hand. */
  readonly freed: (gone: readonly Held[]) => void
  /** A block as the watch tells it. Answers who is not in it any more. */
  readonly observe: (block: AddressBlock) => readonly Held[]
  readonly waiting: () => readonly Claim[]
}

type Wish =
  | { readonly kind: 'claim'; readonly owner: string; readonly claim: Claim }
  | { readonly kind: 'release'; readonly owner: string; readonly isGone: (uid: string) => boolean }

interface Pending {
  readonly wish: Wish
  readonly resolve: (verdicts: readonly Verdict[]) => void
  readonly reject: (error: unknown) => void
}

/** Versions of our own past kept per block: the watch tells of them after we wrote on. */
const REMEMBERED = 64

export function createAllocator({ client, ledger, fieldManager, onServed }: AllocatorOptions): Allocator {
  let pending: Pending[] = []
  let running = false
  const parked = new Map<string, Claim>()
  const stirred = new Set<string>()
  const superseded = new Map<string, string[]>()

  const freed = (gone: readonly Held[]): void => {
    if (gone.length === 0 || parked.size === 0) return
    for (const [owner, claim] of parked) {
      if (gone.some(({ spot }) => claim.wants.some(({ pool }) => liesIn(pool, spot)))) stirred.add(owner)
    }
    if (stirred.size > 0) start()
  }

  const load = (block: AddressBlock): void => freed(ledger.load(block))

  /** True when written; false when somebody else was first, and the block has been read again. */
  const write = async (
    id: BlockId,
    before: AddressBlock | undefined,
    after: AddressBlock,
  ): Promise<boolean> => {
    try {
      const written = before
        ? await client.update(after, { fieldManager })
        : await client.create(after, { fieldManager })
      const old = superseded.get(blockName(id)) ?? []
      if (before?.metadata.resourceVersion) old.push(before.metadata.resourceVersion)
      superseded.set(blockName(id), old.slice(-REMEMBERED))
      load(written as AddressBlock)
      return true
    } catch (error) {
      if (!isApiError(error, 'conflict', 'already-exists', 'not-found')) throw error
      const now = await client.get({ ...addressBlocks, name: blockName(id) })
      if (now) load(now as AddressBlock)
      else freed(ledger.drop(blockName(id)))
      return false
    }
  }

  const writeAll = async (changes: readonly Change[]): Promise<ReadonlyMap<string, unknown>> => {
    /** Who must be decided again (undefined), or has failed, and with what. */
    const unserved = new Map<string, unknown>()
    // Composed before the first wait: each block is written by the version that was decided on.
    const writes = [...byBlock(changes).values()].map(({ id, items }) => {
      const before = ledger.block(id)
      return { id, items, before, after: changedBlock(id, before, items) }
    })
    await Promise.all(
      writes.map(async ({ id, items, before, after }) => {
        try {
          if (await write(id, before, after)) return
          for (const { owner } of items) if (!unserved.has(owner)) unserved.set(owner, undefined)
        } catch (error) {
          for (const { owner } of items) unserved.set(owner, error)
        }
      }),
    )
    return unserved
  }

  const round = async (): Promise<void> => {
    const batch = pending
    pending = []
    const asked = batch.flatMap(({ wish }) => (wish.kind === 'claim' ? [wish.claim] : []))
    const askers = new Set(asked.map(ownerOf))
    const woken = [...stirred].flatMap((owner) => (askers.has(owner) ? [] : (parked.get(owner) ?? [])))
    stirred.clear()
    const releases = batch.flatMap(({ wish }) =>
      wish.kind === 'release' ? releaseChanges(wish, ledger) : [],
    )
    // Releases are written first: an address is free when the API server says so.
    const unreleased = releases.length > 0 ? await writeAll(releases) : new Map<string, unknown>()
    const { verdicts, changes } = decide([...asked, ...woken], ledger)
    const unserved = await writeAll(changes)

    for (const one of batch) {
      const { owner, kind } = one.wish
      const failed = kind === 'release' ? unreleased : unserved
      if (!failed.has(owner)) finish(one, verdicts.get(owner) ?? [])
      else if (failed.get(owner) === undefined) pending.push(one)
      else one.reject(failed.get(owner))
    }
    for (const claim of woken) {
      const owner = ownerOf(claim)
      const failed = unserved.has(owner)
      if (failed && unserved.get(owner) === undefined) stirred.add(owner)
      // What went wrong is told to the one who waits by its own next look, with its own pause.
      else if (failed || verdicts.get(owner)?.some(({ kind }) => kind === 'granted')) onServed(owner)
    }
  }

  const finish = ({ wish, resolve }: Pending, verdicts: readonly Verdict[]): void => {
    const waits =
      wish.kind === 'claim' && verdicts.some(({ kind }) => kind === 'exhausted' || kind === 'taken')
    if (waits && wish.kind === 'claim') parked.set(wish.owner, wish.claim)
    else parked.delete(wish.owner)
    resolve(verdicts)
  }

  const start = (): void => {
    if (running) return
    running = true
    void (async () => {
      // Everything that is asked in this breath belongs to the first round.
      await Promise.resolve()
      while (pending.length > 0 || stirred.size > 0) await round()
      running = false
    })()
  }

  const ask = (wish: Wish): Promise<readonly Verdict[]> =>
    new Promise((resolve, reject) => {
      pending.push({ wish, resolve, reject })
      start()
    })

  return {
    claim: (claim) => ask({ kind: 'claim', owner: ownerOf(claim), claim }),
    release: async (owner, isGone) => {
      parked.delete(owner)
      if (ledger.heldBy(owner).some(({ holder }) => isGone(holder.uid))) {
        await ask({ kind: 'release', owner, isGone })
      }
    },
    freed,
    observe: (block) => {
      const { name, resourceVersion = '' } = block.metadata
      if (superseded.get(name)?.includes(resourceVersion)) return []
      const gone = ledger.load(block)
      freed(gone)
      return gone
    },
    waiting: () => [...parked.values()],
  }
}

function releaseChanges(
  { owner, isGone }: Extract<Wish, { readonly kind: 'release' }>,
  ledger: Ledger,
): readonly Change[] {
  return ledger
    .heldBy(owner)
    .filter(({ holder }) => isGone(holder.uid))
    .map(({ spot }) => ({ spot, holder: undefined, owner }))
}
