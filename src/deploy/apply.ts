/**
 * Applying a stage's objects: only what differs, rank after rank, a few at a time.
 *
 * A stop lets the writes in flight end. A refusal ends the stage after them, with every refusal told.
 */
import { type KubeObject, objectIdentity } from '../api/object.ts'
import { Failure } from '../errors/failure.ts'
import type { KubeClient } from '../kube/client.ts'
import type { StageContext } from '../run/stage.ts'
import type { Limiter } from './limiter.ts'
import { FIELD_MANAGER, type ObjectChange } from './object-changes.ts'
import { applyRank } from './ranks.ts'
import { type RetryPolicy, retry } from './retry.ts'

export interface ApplyOptions {
  readonly client: KubeClient
  readonly force: boolean
  readonly patience?: RetryPolicy
  /** Shared by everybody who writes in this run. */
  readonly gate: Limiter
  /** Objects of this stage at work at once. */
  readonly atOnce?: number
}

/** What the server holds now, by identity. */
export type AppliedObjects = ReadonlyMap<string, KubeObject>

export async function applyChanges(
  changes: readonly ObjectChange[],
  settings: ApplyOptions,
  context: StageContext,
): Promise<AppliedObjects> {
  const applied = new Map<string, KubeObject>()
  const ranks = [...new Set(changes.map(({ desired }) => applyRank(desired)))].sort((a, b) => a - b)
  for (const rank of ranks) {
    const same = changes.filter(({ desired }) => applyRank(desired) === rank)
    await runParallel(same, settings.atOnce ?? 8, async (change) => {
      context.stop.throwIfAborted()
      applied.set(objectIdentity(change.desired), await applyObject(change, settings, context))
    })
  }
  return applied
}

async function applyObject(
  { change, desired, live }: ObjectChange,
  { client, force, patience, gate }: ApplyOptions,
  context: StageContext,
): Promise<KubeObject> {
  const { apiVersion, kind, metadata } = desired
  const { namespace, name } = metadata
  const object = { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
  if (change === 'unchanged' && live) {
    context.emit({ kind: 'applied', change: 'unchanged', object })
    return live
  }
  // Whoever waited at the gate while the run was stopped does not begin.
  const write = (): Promise<KubeObject> =>
    gate(async () => {
      context.stop.throwIfAborted()
      return client.apply(desired, { fieldManager: FIELD_MANAGER, force })
    })
  const written = await retry(write, context, patience)
  context.emit({ kind: 'applied', change: change === 'create' ? 'created' : 'changed', object })
  return written
}

/** Runs all, a few at a time. After a failure nothing new begins; the findings of all failures are thrown as one. */
export async function runParallel<T>(
  items: readonly T[],
  atOnce: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      const item = items[next] as T
      next += 1
      await act(item).catch((thrown: unknown) => void failures.push(thrown))
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  if (failures.length === 0) return
  const known = failures.filter((failure) => failure instanceof Failure)
  if (failures.length === 1 || known.length < failures.length)
    throw failures.find((failure) => !(failure instanceof Failure)) ?? failures[0]
  throw new Failure(
    known.flatMap((failure) => failure.findings),
    known[0]?.exitCode,
    { cause: known[0] },
  )
}
