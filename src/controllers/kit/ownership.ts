/**
 * Decides whether a controller may overwrite an object that has the name of one that it needs.
 *
 * Pure. A UID proves ownership; a name, a label or a field manager does not.
 */
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { findController } from '../../api/ownership.ts'
import { objectInTheWay } from '../../errors/common.ts'
import { Failure } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'

/** An object in the way is not watched, so its deletion is noticed after this time. */
export const IN_THE_WAY_RESYNC_MS = 30_000

export interface ObjectInTheWay {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly owner: string
}

export type Ownership =
  | { readonly kind: 'owned' }
  /** Left by a deleted owner with the same name: garbage collection would delete it later. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'foreign'; readonly facts: ObjectInTheWay }

/** A desired object without a controller belongs to no object, and is written as it is. */
export function decideOwnership(live: KubeObject, desired: KubeObject): Ownership {
  const owner = findController(desired)
  const owners = live.metadata.ownerReferences ?? []
  if (!owner || owners.some(({ uid }) => uid === owner.uid)) return { kind: 'owned' }
  const [first] = owners
  if (first && owners.length === 1 && hasSameName(first, owner)) return { kind: 'stale' }
  const { namespace = '', name } = desired.metadata
  const other = findController(live) ?? first
  const facts = {
    kind: desired.kind,
    namespace,
    name,
    owner: other ? `${other.kind} ${other.name} owns it` : `no ${owner.kind} owns it`,
  }
  return { kind: 'foreign', facts }
}

function hasSameName(a: OwnerReference, b: OwnerReference): boolean {
  const [groupA, groupB] = [a, b].map(({ apiVersion }) => apiVersion.split('/')[0])
  return groupA === groupB && a.kind === b.kind && a.name === b.name
}

export function findInTheWay(live: KubeObject | undefined, desired: KubeObject): Finding | undefined {
  const ownership = live && decideOwnership(live, desired)
  return ownership?.kind === 'foreign' ? finding(objectInTheWay, ownership.facts) : undefined
}

export type OwnedWrite<T> =
  | { readonly kind: 'written'; readonly result: T }
  | { readonly kind: 'refused'; readonly finding: Finding }

/**
 * Turns what only a person can correct into a value that a condition can report: an object in the way, and an object that
 * the API server refuses, such as one whose label has a text of a tenant. Every other error is thrown.
 */
export async function tryOwnedWrite<T>(write: Promise<T>): Promise<OwnedWrite<T>> {
  try {
    return { kind: 'written', result: await write }
  } catch (error) {
    const [cause] = error instanceof Failure ? error.findings : []
    if (!cause || !(cause.code === objectInTheWay.code || isApiError(error, 'invalid'))) throw error
    return { kind: 'refused', finding: cause }
  }
}
