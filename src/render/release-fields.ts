/**
 * Fits documents to the release that the plan targets: the one place where a release decides what is rendered, after the
 * templates. Pure.
 */
import type { KubeObject } from '../api/object.ts'
import type { PlannedCloud } from '../plan/plan.ts'
import { type FieldPath, missingFields, pruneFields } from '../plan/release/fields.ts'
import type { Release } from '../plan/release/releases.ts'
import { moveBuses } from '../plan/release/renames.ts'
import { netConfigRawFields, nodeSetRawFields, rawSources } from '../plan/slots/raw-fields.ts'
import { asFields, type Fields, mergePatch, setValue } from './merge.ts'
import { findRequiredValue } from './required-values.ts'

export interface FittedDocument {
  readonly object: KubeObject
  /** Below `spec`: what the templates produce and the release does not have. */
  readonly dropped: readonly FieldPath[]
  /** Below `spec`: what the release requires and the object does not have. */
  readonly missing: readonly FieldPath[]
}

/**
 * The object without the fields that the release does not have, and with the newer ones that it has for a RabbitMQ. Raw
 * fields of the site file stay: a finding reports those that the release does not have, and a user who accepts it gets
 * them.
 */
export function fitToRelease(object: KubeObject, release: Release, cloud?: PlannedCloud): FittedDocument {
  const schema = release.kinds[object.kind]
  const spec = object['spec']
  if (!schema || schema.apiVersion !== object.apiVersion || spec === undefined) {
    return { object, dropped: [], missing: [] }
  }
  const { value, dropped } = pruneFields(asFields(spec), schema.spec)
  const kept = dropped.length === 0 ? value : rawFieldsFor(object, cloud).reduce(mergePatch, value)
  const moved = object.kind === 'OpenStackControlPlane' ? moveBuses(kept, schema.spec) : kept
  const { filled, missing } = fillRequired(object.kind, moved, missingFields(moved, schema.spec))
  return {
    object: filled === spec ? object : { ...object, spec: filled },
    dropped: dropped.map(({ path }) => path),
    missing,
  }
}

function fillRequired(kind: string, spec: Fields, required: readonly FieldPath[]) {
  const missing: FieldPath[] = []
  let filled = spec
  for (const path of required) {
    const value = findRequiredValue(kind, path)
    if (value === undefined) missing.push(path)
    else filled = asFields(setValue(filled, path.map(String), value))
  }
  return { filled, missing }
}

function rawFieldsFor({ kind, metadata }: KubeObject, cloud: PlannedCloud | undefined): readonly Fields[] {
  if (!cloud) return []
  if (kind === 'OpenStackControlPlane') return rawSources(cloud.from).map(({ value }) => value)
  if (kind === 'NetConfig') return netConfigRawFields(cloud.from).map(({ value }) => value)
  if (kind !== 'OpenStackDataPlaneNodeSet') return []
  return nodeSetRawFields(cloud.from, metadata.name).map(({ value }) => value)
}
