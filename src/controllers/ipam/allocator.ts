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
import { addressBlocks, applyChanges, type LedgerChange } from './block.ts'
import { groupByBlock, type HeldAddress, type Ledger, ownerKey } from './ledger.ts'
import { type AllocationResult, type Claim, planAllocation, poolContains } from './plan-allocation.ts'

export interface AllocatorDeps {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update' | 'delete'>
  readonly ledger: Ledger
  readonly fieldManager: string
  /** An owner who waited has got what it waited for. */
  readonly enqueue: (owner: string) => void
}

export interface Allocator {
  /** Resolves when what could be granted is written. Who goes away empty is served when it can be. */
  readonly claim: (claim: Claim) => Promise<readonly AllocationResult[]>
  /** Gives back what is held under this name by UIDs that are gone. */
  readonly release: (owner: string, isGone: (uid: string) => boolean) => Promise<void>
  /** A block as the watch tells it, or that it is gone. Answers who is not in it any more. */
  readonly observe: (block: AddressBlock, happened: 'written' | 'deleted') => readonly HeldAddress[]
  readonly waiting: () => readonly Claim[]
}

type AllocatorRequest =
  | { readonly kind: 'claim'; readonly owner: string; readonly claim: Claim }
  | { readonly kind: 'release'; readonly owner: string; readonly isGone: (uid: string) => boolean }

interface PendingRequest {
  readonly request: AllocatorRequest
  readonly resolve: (verdicts: readonly AllocationResult[]) => void
  readonly reject: (error: unknown) => void
}

/** Versions of our own past kept per block: the watch tells of them after we wrote on. */
const MAX_REMEMBERED_VERSIONS = 64

export function createAllocator({ client, ledger, fieldManager, enqueue }: AllocatorDeps): Allocator {
  let pending: PendingRequest[] = []
  let running = false
  const parked = new Map<string, Claim>()
  const stirred = new Set<string>()
  const superseded = new Map<string, string[]>()

  const freed = (gone: readonly HeldAddress[]): void => {
    if (gone.length === 0 || parked.size === 0) return
    for (const [owner, claim] of parked) {
      if (gone.some(({ spot }) => claim.requests.some(({ pool }) => poolContains(pool, spot)))) stirred.add(owner)
    }
    if (stirred.size > 0) start()
  }

  const load = (block: AddressBlock): void => freed(ledger.load(block))

  /** True when written; false when somebody else was first, and the block has been read again. */
  const write = async ({ name, before, after }: BlockWrite): Promise<boolean> => {
    try {
      const written = await writeBlock(client, before, after, fieldManager)
      const old = superseded.get(name) ?? []
      if (before?.metadata.resourceVersion) old.push(before.metadata.resourceVersion)
      superseded.set(name, old.slice(-MAX_REMEMBERED_VERSIONS))
      if (written) load(written)
      else freed(ledger.drop(name))
      return true
    } catch (error) {
      if (!isApiError(error, 'conflict', 'already-exists', 'not-found')) throw error
      const now = await client.get({ ...addressBlocks, name })
      if (now) load(now as AddressBlock)
      else freed(ledger.drop(name))
      return false
    }
  }

  const writeAll = async (changes: readonly LedgerChange[]): Promise<ReadonlyMap<string, unknown>> => {
    /** Who must be decided again (undefined), or has failed, and with what. */
    const unserved = new Map<string, unknown>()
    // Composed before the first wait: each block is written by the version that was decided on.
    const writes = [...groupByBlock(changes).values()].map(({ id, items }) => {
      const before = ledger.block(id)
      const after = applyChanges(id, before, items)
      return { name: after.metadata.name, items, before, after }
    })
    await Promise.all(
      writes.map(async ({ items, ...block }) => {
        try {
          if (await write(block)) return
          for (const { owner } of items) if (!unserved.has(owner)) unserved.set(owner, undefined)
        } catch (error) {
          for (const { owner } of items) unserved.set(owner, error)
        }
      }),
    )
    return unserved
  }

  const round = async (batch: readonly PendingRequest[]): Promise<void> => {
    const asked = batch.flatMap(({ request }) => (request.kind === 'claim' ? [request.claim] : []))
    const askers = new Set(asked.map(ownerKey))
    const woken = [...stirred].flatMap((owner) => (askers.has(owner) ? [] : (parked.get(owner) ?? [])))
    stirred.clear()
    const releases = batch.flatMap(({ request }) => (request.kind === 'release' ? releaseChanges(request, ledger) : []))
    // Releases are written first: an address is free when the API server says so.
    const unreleased = releases.length > 0 ? await writeAll(releases) : new Map<string, unknown>()
    const { results, changes } = planAllocation([...asked, ...woken], ledger)
    const unserved = await writeAll(changes)

    for (const one of batch) {
      const { owner, kind } = one.request
      const failed = kind === 'release' ? unreleased : unserved
      if (!failed.has(owner)) finish(one, results.get(owner) ?? [])
      else if (failed.get(owner) === undefined) pending.push(one)
      else one.reject(failed.get(owner))
    }
    for (const claim of woken) {
      const owner = ownerKey(claim)
      const failed = unserved.has(owner)
      if (failed && unserved.get(owner) === undefined) stirred.add(owner)
      // What went wrong is told to the one who waits by its own next look, with its own pause.
      else if (failed || results.get(owner)?.some(({ kind }) => kind === 'granted')) enqueue(owner)
    }
  }

  const finish = ({ request, resolve }: PendingRequest, verdicts: readonly AllocationResult[]): void => {
    const waits = request.kind === 'claim' && verdicts.some(({ kind }) => kind === 'exhausted' || kind === 'taken')
    if (waits && request.kind === 'claim') parked.set(request.owner, request.claim)
    else parked.delete(request.owner)
    resolve(verdicts)
  }

  /** One that cannot be decided about must not keep the others waiting: they are then decided one by one. */
  const attempt = async (batch: readonly PendingRequest[]): Promise<void> => {
    const woken = [...stirred]
    try {
      await round(batch)
    } catch (error) {
      if (batch.length > 1) for (const pending of batch) await attempt([pending])
      else for (const pending of batch) pending.reject(error)
      // Who was woken looks for itself, with its own pause.
      for (const owner of woken) enqueue(owner)
    }
  }

  const start = (): void => {
    if (running) return
    running = true
    void (async () => {
      // Everything that is asked in this breath belongs to the first round.
      await Promise.resolve()
      while (pending.length > 0 || stirred.size > 0) {
        const batch = pending
        pending = []
        await attempt(batch)
      }
      running = false
    })()
  }

  const ask = (wish: AllocatorRequest): Promise<readonly AllocationResult[]> =>
    new Promise((resolve, reject) => {
      pending.push({ request: wish, resolve, reject })
      start()
    })

  return {
    claim: (claim) => ask({ kind: 'claim', owner: ownerKey(claim), claim }),
    release: async (owner, isGone) => {
      parked.delete(owner)
      if (ledger.heldBy(owner).some(({ holder }) => isGone(holder.uid))) {
        await ask({ kind: 'release', owner, isGone })
      }
    },
    observe: (block, happened) => {
      const { name, uid, resourceVersion = '' } = block.metadata
      if (happened === 'deleted') {
        const known = ledger.blockByName(name)
        if (!known) superseded.delete(name)
        // Made again since: the one that was deleted is not this one any more.
        if (known?.metadata.uid !== uid) return []
      } else if (isKnown(ledger.blockByName(name), block) || superseded.get(name)?.includes(resourceVersion)) return []
      const gone = happened === 'deleted' ? ledger.drop(name) : ledger.load(block)
      freed(gone)
      return gone
    },
    waiting: () => [...parked.values()],
  }
}

function isKnown(known: AddressBlock | undefined, { metadata }: AddressBlock): boolean {
  const { uid, resourceVersion } = known?.metadata ?? {}
  return uid === metadata.uid && resourceVersion !== undefined && resourceVersion === metadata.resourceVersion
}

interface BlockWrite {
  readonly name: string
  readonly before: AddressBlock | undefined
  readonly after: AddressBlock
}

/** What is stored then; undefined when nobody is left in the block and it is gone. */
async function writeBlock(
  client: AllocatorDeps['client'],
  before: AddressBlock | undefined,
  after: AddressBlock,
  fieldManager: string,
): Promise<AddressBlock | undefined> {
  if (!before) return (await client.create(after, { fieldManager })) as AddressBlock
  if (Object.keys(after.spec.holders).length > 0) return (await client.update(after, { fieldManager })) as AddressBlock
  const { name, uid, resourceVersion } = before.metadata
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
  // Somebody else may have deleted it and made it again: then this is a conflict, as for every write.
  await client.delete({ ...addressBlocks, name }, { preconditions })
  return undefined
}

function releaseChanges(
  { owner, isGone }: Extract<AllocatorRequest, { readonly kind: 'release' }>,
  ledger: Ledger,
): readonly LedgerChange[] {
  return ledger
    .heldBy(owner)
    .filter(({ holder }) => isGone(holder.uid))
    .map(({ spot }) => ({ spot, holder: undefined, owner }))
}
