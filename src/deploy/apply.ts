/**
 * Applies the objects of a stage: only what differs, in order of dependency, a few at a time.
 *
 * After a stop the writes in flight finish. After a refusal no new write starts, and every refusal is reported.
 */
import { type KubeObject, objectIdentity } from '../api/object.ts'
import { Failure } from '../errors/failure.ts'
import type { KubeClient } from '../kube/client.ts'
import type { StageContext } from '../run/stage.ts'
import { FIELD_MANAGER, type ObjectChange, objectRef } from './object-changes.ts'
import { type RetryPolicy, retry } from './retry.ts'

export interface ApplyOptions {
  readonly client: KubeClient
  /** Takes fields from other managers; only when the user asks for it. */
  readonly force: boolean
  readonly retryPolicy?: RetryPolicy
  /** Shared by all writers of a run. */
  readonly limiter: Limiter
  /** Objects of this stage that are written at the same time. */
  readonly concurrency?: number
}

/** Objects as the server returned them, by identity. */
export type AppliedObjects = ReadonlyMap<string, KubeObject>

export async function applyChanges(
  changes: readonly ObjectChange[],
  options: ApplyOptions,
  context: StageContext,
): Promise<AppliedObjects> {
  const applied = new Map<string, KubeObject>()
  const ranks = [...new Set(changes.map(({ desired }) => applyRank(desired)))].sort((a, b) => a - b)
  for (const rank of ranks) {
    const sameRank = changes.filter(({ desired }) => applyRank(desired) === rank)
    await runParallel(sameRank, options.concurrency ?? 8, async (change) => {
      context.stop.throwIfAborted()
      applied.set(objectIdentity(change.desired), await applyObject(change, options, context))
    })
  }
  return applied
}

async function applyObject(
  { change, desired, live }: ObjectChange,
  { client, force, retryPolicy, limiter }: ApplyOptions,
  context: StageContext,
): Promise<KubeObject> {
  const object = objectRef(desired)
  if (change === 'unchanged' && live) {
    context.emit({ kind: 'applied', change: 'unchanged', object })
    return live
  }
  // A write that waited in the limiter while the run was stopped does not start.
  const write = (): Promise<KubeObject> =>
    limiter(async () => {
      context.stop.throwIfAborted()
      return client.apply(desired, { fieldManager: FIELD_MANAGER, force })
    })
  const written = await retry(write, context, retryPolicy)
  context.emit({ kind: 'applied', change: change === 'create' ? 'created' : 'changed', object })
  return written
}

/** What others live in, refer to, or are validated by is applied first. */
const applyOrder: readonly (readonly string[])[] = [
  ['Namespace'],
  [
    'CatalogSource',
    'OperatorGroup',
    'ConfigMap',
    'Secret',
    'BFDProfile',
    'OpenStackVersion',
    'OpenStackDataPlaneService',
  ],
  ['Subscription', 'IPAddressPool', 'BGPPeer', 'ValidatingAdmissionPolicy', 'OpenStackDataPlaneNodeSet'],
]

function applyRank({ kind }: KubeObject): number {
  const rank = applyOrder.findIndex((kinds) => kinds.includes(kind))
  return rank < 0 ? applyOrder.length : rank
}

/** Runs all items, a few at a time. After a failure nothing new starts; findings of all failures are thrown together. */
export async function runParallel<T>(
  items: readonly T[],
  concurrency: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      const item = items[next] as T
      next += 1
      await run(item).catch((thrown: unknown) => void failures.push(thrown))
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
  if (failures.length === 0) return
  const known = failures.filter((thrown) => thrown instanceof Failure)
  if (failures.length === 1 || known.length < failures.length)
    throw failures.find((thrown) => !(thrown instanceof Failure)) ?? failures[0]
  const findings = known.flatMap((thrown) => thrown.findings)
  throw new Failure(findings, known[0]?.exitCode, { cause: known[0] })
}

/** Runs a task when fewer than the limit are running, in order of arrival. */
export type Limiter = <T>(task: () => Promise<T>) => Promise<T>

/**
 * Limits the writes of a whole run. Stages run in parallel and each has many objects: without a limit the renewal of
 * the run's Lease would queue behind hundreds of its own writes.
 */
export function createLimiter(limit: number): Limiter {
  let free = limit
  const waiting: (() => void)[] = []
  return async (task) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
