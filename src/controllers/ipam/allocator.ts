/**
 * Allocates addresses: plans all concurrent claims together and writes each changed AddressBlock once.
 *
 * A grant counts when its block is written on the version that it was planned on. After a conflict the block is read
 * again and the claims that changed it are planned again. Knows claims and blocks, no IPSets.
 */
import { type AddressBlock, addressBlocks } from '../../api/address-block.ts'
import type { Clock } from '../../clock/clock.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Claim, poolContains } from './claim.ts'
import { applyChanges, groupByBlock, type HeldAddress, type Ledger, type LedgerChange, ownerKey } from './ledger.ts'
import { type AllocationResult, planAllocation } from './plan-allocation.ts'

export interface AllocatorDeps {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update' | 'delete'>
  readonly ledger: Ledger
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  readonly fieldManager: string
  /** Reconciles an owner that was waiting and now has an address. */
  readonly enqueue: (owner: string) => void
}

export interface Allocator {
  /**
   * Resolves when requests may be made: at once, or after those of the last batch that was written. To be called before
   * the state is read that a claim is built from.
   */
  readonly turn: () => Promise<void>
  /** Resolves when the grants are written. A claim that is not fully served waits for a free address. */
  readonly claim: (claim: Claim) => Promise<readonly AllocationResult[]>
  /** Releases what is held under this name by UIDs that no longer exist. */
  readonly release: (owner: string, isGone: (uid: string) => boolean) => Promise<void>
  /** Takes a block from the watch; returns the entries that another writer removed. */
  readonly observe: (block: AddressBlock, event: 'written' | 'deleted') => readonly HeldAddress[]
}

type AllocatorRequest =
  | { readonly kind: 'claim'; readonly owner: string; readonly claim: Claim }
  | { readonly kind: 'release'; readonly owner: string; readonly isGone: (uid: string) => boolean }

interface PendingRequest {
  readonly request: AllocatorRequest
  readonly resolve: (results: readonly AllocationResult[]) => void
  readonly reject: (error: unknown) => void
}

/** Own versions remembered per block: the watch reports them after later writes. */
const MAX_REMEMBERED_VERSIONS = 64

/**
 * A batch writes a block per segment, however few requests it has, and a block costs up to twice what a Reservation does.
 * So each request of a batch delays the next turn: a single one not noticeably, many until more have come together.
 */
const TURN_MS = 10
const MAX_TURN_MS = 300

export function createAllocator({ client, ledger, clock, fieldManager, enqueue }: AllocatorDeps): Allocator {
  let pending: PendingRequest[] = []
  let running = false
  /** By the clock's `elapsed`. */
  let nextTurnAt = 0
  let nextTurn: Promise<void> | undefined
  const waiting = new Map<string, Claim>()
  /** Owners that wait for an address in a subnet where one became free. */
  const retriable = new Set<string>()
  const ownVersions = new Map<string, string[]>()

  const retryWaiting = (freed: readonly HeldAddress[]): void => {
    if (freed.length === 0 || waiting.size === 0) return
    for (const [owner, claim] of waiting) {
      if (freed.some(({ address }) => claim.requests.some(({ pool }) => poolContains(pool, address))))
        retriable.add(owner)
    }
    if (retriable.size > 0) start()
  }

  const load = (block: AddressBlock): void => retryWaiting(ledger.load(block))

  /** False when another writer was faster; then the block has been read again. */
  const tryWrite = async ({ name, before, after }: BlockWrite): Promise<boolean> => {
    try {
      const written = await writeBlock(client, before, after, fieldManager)
      const versions = ownVersions.get(name) ?? []
      if (before?.metadata.resourceVersion) versions.push(before.metadata.resourceVersion)
      ownVersions.set(name, versions.slice(-MAX_REMEMBERED_VERSIONS))
      if (written) load(written)
      else retryWaiting(ledger.drop(name))
      return true
    } catch (error) {
      if (!isApiError(error, 'conflict', 'already-exists', 'not-found')) throw error
      const current = await client.get({ ...addressBlocks, name })
      if (current) load(current as AddressBlock)
      else retryWaiting(ledger.drop(name))
      return false
    }
  }

  /** The owners whose changes were not written: with the error, or undefined where planning again is enough. */
  const writeAll = async (changes: readonly LedgerChange[]): Promise<ReadonlyMap<string, unknown>> => {
    const failed = new Map<string, unknown>()
    // Composed before the first await: each block is written on the version that the plan was made on.
    const writes = [...groupByBlock(changes).values()].map(({ id, items }) => {
      const before = ledger.block(id)
      const after = applyChanges(id, before, items)
      return { name: after.metadata.name, items, before, after }
    })
    await Promise.all(
      writes.map(async ({ items, ...block }) => {
        try {
          if (await tryWrite(block)) return
          for (const { owner } of items) if (!failed.has(owner)) failed.set(owner, undefined)
        } catch (error) {
          for (const { owner } of items) failed.set(owner, error)
        }
      }),
    )
    return failed
  }

  const runBatch = async (batch: readonly PendingRequest[]): Promise<void> => {
    const claims = batch.flatMap(({ request }) => (request.kind === 'claim' ? [request.claim] : []))
    const claimants = new Set(claims.map(ownerKey))
    const retried = [...retriable].flatMap((owner) => (claimants.has(owner) ? [] : (waiting.get(owner) ?? [])))
    retriable.clear()
    const releases = batch.flatMap(({ request }) =>
      request.kind === 'release' ? releaseChanges(request.owner, request.isGone, ledger) : [],
    )
    // Releases are written first: an address is free when the API server says so.
    const unreleased = releases.length > 0 ? await writeAll(releases) : new Map<string, unknown>()
    const { results, changes } = planAllocation([...claims, ...retried], ledger)
    // Requests that change nothing, as after a restart, delay no others.
    if (changes.length > 0 || releases.length > 0) {
      nextTurnAt = clock.elapsed() + Math.min(TURN_MS * batch.length, MAX_TURN_MS)
    }
    const ungranted = await writeAll(changes)

    for (const item of batch) {
      const { owner, kind } = item.request
      const failed = kind === 'release' ? unreleased : ungranted
      if (!failed.has(owner)) finish(item, results.get(owner) ?? [])
      else if (failed.get(owner) === undefined) pending.push(item)
      else item.reject(failed.get(owner))
    }
    for (const claim of retried) {
      const owner = ownerKey(claim)
      const isFailed = ungranted.has(owner)
      if (isFailed && ungranted.get(owner) === undefined) retriable.add(owner)
      // An error is reported by the owner's next reconcile, which has its own backoff.
      else if (isFailed || results.get(owner)?.some(({ kind }) => kind === 'granted')) enqueue(owner)
    }
  }

  const finish = ({ request, resolve }: PendingRequest, results: readonly AllocationResult[]): void => {
    const mustWait = results.some(({ kind }) => kind === 'exhausted' || kind === 'taken' || kind === 'foreign')
    if (request.kind === 'claim' && mustWait) waiting.set(request.owner, request.claim)
    else waiting.delete(request.owner)
    resolve(results)
  }

  /** A claim that cannot be planned must not block the others: after an error they are planned one by one. */
  const runIsolated = async (batch: readonly PendingRequest[]): Promise<void> => {
    const retried = [...retriable]
    try {
      await runBatch(batch)
    } catch (error) {
      if (batch.length > 1) for (const item of batch) await runIsolated([item])
      else for (const item of batch) item.reject(error)
      for (const owner of retried) enqueue(owner)
    }
  }

  const start = (): void => {
    if (running) return
    running = true
    void (async () => {
      // Requests of the same tick belong to the first batch.
      await Promise.resolve()
      while (pending.length > 0 || retriable.size > 0) {
        const batch = pending
        pending = []
        await runIsolated(batch)
      }
      running = false
    })()
  }

  const submit = (request: AllocatorRequest): Promise<readonly AllocationResult[]> =>
    new Promise((resolve, reject) => {
      pending.push({ request, resolve, reject })
      start()
    })

  return {
    turn: async () => {
      const waitMs = nextTurnAt - clock.elapsed()
      // All that wait go on in one tick, so that one batch has them.
      if (waitMs > 0) nextTurn ??= clock.sleep(waitMs).finally(() => void (nextTurn = undefined))
      await nextTurn
    },
    claim: (claim) => submit({ kind: 'claim', owner: ownerKey(claim), claim }),
    release: async (owner, isGone) => {
      waiting.delete(owner)
      if (ledger.heldBy(owner).some(({ holder }) => isGone(holder.uid)))
        await submit({ kind: 'release', owner, isGone })
    },
    observe: (block, event) => {
      const { name, uid, resourceVersion = '' } = block.metadata
      const known = ledger.version(name)
      if (event === 'deleted') {
        if (!known) ownVersions.delete(name)
        // Created again since then: the deleted block is not this one.
        if (known?.uid !== uid) return []
      } else if (isSameVersion(known, block) || ownVersions.get(name)?.includes(resourceVersion)) return []
      const removed = event === 'deleted' ? ledger.drop(name) : ledger.load(block)
      retryWaiting(removed)
      return removed
    },
  }
}

function isSameVersion(known: ReturnType<Ledger['version']>, { metadata }: AddressBlock): boolean {
  const { uid, resourceVersion } = known ?? {}
  return uid === metadata.uid && resourceVersion !== undefined && resourceVersion === metadata.resourceVersion
}

interface BlockWrite {
  readonly name: string
  readonly before: AddressBlock | undefined
  readonly after: AddressBlock
}

/** The stored block; undefined when the last holder left and the block was deleted. */
async function writeBlock(
  client: AllocatorDeps['client'],
  before: AddressBlock | undefined,
  after: AddressBlock,
  fieldManager: string,
): Promise<AddressBlock | undefined> {
  if (!before) return (await client.create(after, { fieldManager })) as AddressBlock
  if (Object.keys(after.spec.holders).length > 0) return (await client.update(after, { fieldManager })) as AddressBlock
  const { name, uid, resourceVersion } = before.metadata
  // A block that another writer deleted and created again is a conflict, as for every write.
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
  await client.delete({ ...addressBlocks, name }, { preconditions })
  return undefined
}

function releaseChanges(owner: string, isGone: (uid: string) => boolean, ledger: Ledger): readonly LedgerChange[] {
  return ledger
    .heldBy(owner)
    .filter(({ holder }) => isGone(holder.uid))
    .map(({ address }) => ({ address, holder: undefined, owner }))
}
