/**
 * Compares desired objects with live ones: what an apply would change, as a value to print before anything is done.
 *
 * An object is unchanged only if it has every desired field, we own them, and we own no others: a hash would miss a
 * manual edit. Pure.
 */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { formatGroupKind, type SnapshotIndex } from '../api/snapshot.ts'
import type { ObjectRef } from '../kube/client.ts'
import type { Risk } from '../plan/changes.ts'
import {
  type FieldDifference,
  type ForeignField,
  fieldDifferences,
  foreignFields,
  removedFields,
} from '../verify/field-differences.ts'
import { updateRisk } from './change-risk.ts'

/** Manages every field that the site's objects have from us. */
export const FIELD_MANAGER = 'stackloom'

export const NODE_POLICY = 'nmstate.io/NodeNetworkConfigurationPolicy'
export const BGP_PEER = 'metallb.io/BGPPeer'

export interface ObjectChange {
  readonly change: 'create' | 'update' | 'take over' | 'unchanged'
  readonly desired: KubeObject
  readonly live?: KubeObject
  readonly fields: readonly FieldDifference[]
  /** Fields with the desired value that other managers own. */
  readonly foreign: readonly ForeignField[]
  readonly risk: Risk
}

export function objectRef({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): ObjectRef {
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
}

export function findLive(ref: ObjectRef, index: SnapshotIndex): KubeObject | undefined {
  return index.get(formatGroupKind(ref), ref.name, ref.namespace)
}

export function distinctKinds(objects: readonly GroupVersionKind[]): readonly GroupVersionKind[] {
  const kinds = new Map(
    objects.map(({ apiVersion, kind }) => [formatGroupKind({ apiVersion, kind }), { apiVersion, kind }]),
  )
  return [...kinds.values()]
}

export function compareObjects(objects: readonly KubeObject[], index: SnapshotIndex): readonly ObjectChange[] {
  return objects.map((desired) => compareObject(desired, findLive(objectRef(desired), index)))
}

export function compareObject(desired: KubeObject, live: KubeObject | undefined): ObjectChange {
  if (!live) return { change: 'create', desired, fields: [], foreign: [], risk: createRisk(desired) }
  const different = fieldDifferences(desired, live)
  const known = new Set(different.map(({ path }) => path))
  const removed = removedFields(desired, live, FIELD_MANAGER).filter(({ path }) => !known.has(path))
  const fields = [...different, ...removed]
  const foreign = foreignFields(desired, live, FIELD_MANAGER)
  const change = fields.length > 0 ? 'update' : foreign.length > 0 ? 'take over' : 'unchanged'
  const risk = change === 'update' ? updateRisk(desired, live, fields) : 'safe'
  return { change, desired, live, fields, foreign, risk }
}

/** New interfaces on nodes are a risk even when the object is new. */
function createRisk(desired: KubeObject): Risk {
  return formatGroupKind(desired) === NODE_POLICY ? 'touches node networking' : 'safe'
}
