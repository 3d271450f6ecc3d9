/** A broken cluster in which one rule must fire: the healthy cluster with one change. */
import { type KubeObject, objectIdentity } from '../../src/api/object.ts'
import type { Plan } from '../../src/plan/plan.ts'
import { healthy } from './healthy-cluster.ts'

export interface State {
  /** The rule that must fire. */
  readonly rule: string
  /** What happened. */
  readonly when: string
  readonly objects: readonly KubeObject[]
  /** The object that must be reported: `Service openstack/keystone-internal`. */
  readonly about: string
  /** Texts that message, evidence and remedy must contain. */
  readonly says: readonly string[]
  /** Texts that they must not contain, such as the pool of another cloud. */
  readonly never?: readonly string[]
  /** Other expected causes. */
  readonly beside?: readonly string[]
  readonly plan?: Plan
}

type Change = (object: KubeObject) => KubeObject

/** Changes the object with this identity, which must exist: `Service openstack/keystone-internal`. */
export function changed(id: string, change: Change, objects = healthy()): readonly KubeObject[] {
  let seen = false
  const all = objects.map((object) => {
    if (shortName(object) !== id) return object
    seen = true
    return change(object)
  })
  if (!seen) throw new Error(`the healthy state has no ${id}: ${objects.map(objectIdentity).join(', ')}`)
  return all
}

export function without(id: string, objects = healthy()): readonly KubeObject[] {
  const left = objects.filter((object) => shortName(object) !== id)
  if (left.length === objects.length) throw new Error(`the healthy state has no ${id}`)
  return left
}

/** The healthy state with these objects added or replaced. */
export function having(...objects: readonly KubeObject[]): readonly KubeObject[] {
  return replaced(healthy(), objects)
}

export function replaced(all: readonly KubeObject[], by: readonly KubeObject[]): readonly KubeObject[] {
  const names = new Set(by.map(objectIdentity))
  return [...all.filter((object) => !names.has(objectIdentity(object))), ...by]
}

export function shortName({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`
}

export const spec =
  (values: Readonly<Record<string, unknown>>): Change =>
  (object) => ({ ...object, spec: { ...(object['spec'] as object), ...values } })

export const status =
  (values: Readonly<Record<string, unknown>>): Change =>
  (object) => ({ ...object, status: { ...(object['status'] as object), ...values } })

export const meta =
  (values: Partial<KubeObject['metadata']>): Change =>
  (object) => ({ ...object, metadata: { ...object.metadata, ...values } })
