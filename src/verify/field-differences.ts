/** Compares the fields of a desired object with a live one, and finds fields of other managers. Ignores server defaults. Pure. */

import { isRecord } from '../api/json.ts'
import type { KubeObject } from '../api/object.ts'
import { getField } from '../api/raw-object.ts'
import { formatGroupKind } from '../api/snapshot.ts'

/** A field that differs: `spec.addresses[0]`. */
export interface FieldDifference {
  readonly path: string
  /** Undefined when only the live object has the field. */
  readonly desired: unknown
  /** Undefined when the live object does not have the field. */
  readonly live?: unknown
}

/** Not compared: the identity was used to find the live object, and controllers own the status. */
const IGNORED_FIELDS = new Set(['apiVersion', 'kind', 'status'])

export function fieldDifferences(desired: KubeObject, live: KubeObject): readonly FieldDifference[] {
  const differences: FieldDifference[] = []
  for (const [key, value] of Object.entries(desired)) {
    if (IGNORED_FIELDS.has(key)) continue
    // The server stores `stringData` as base64 in `data`.
    if (key === 'stringData' && desired.kind === 'Secret')
      compare(encodeStringData(value), live['data'], 'data', differences)
    else compare(value, live[key], key, differences)
  }
  const whole = WHOLE_FIELDS[formatGroupKind(desired)]
  return whole ? [...differences, ...additionalFields(desired, live, whole)] : differences
}

/** Fields that one program reads as a whole: the server adds nothing to them, and what is not desired has an effect. */
const WHOLE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'nmstate.io/NodeNetworkConfigurationPolicy': ['spec', 'desiredState'],
}

function additionalFields(desired: KubeObject, live: KubeObject, field: readonly string[]): readonly FieldDifference[] {
  const reversed: FieldDifference[] = []
  compare(getField(live, ...field), getField(desired, ...field), field.join('.'), reversed)
  return reversed
    .filter((found) => found.live === undefined)
    .map(({ path, desired: additional }) => ({ path, desired: undefined, live: additional }))
}

function encodeStringData(stringData: unknown): unknown {
  const entries = Object.entries(stringData as Record<string, string>)
  return Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text).toString('base64')]))
}

function compare(desired: unknown, live: unknown, path: string, into: FieldDifference[]): void {
  // Server-side apply treats null like a missing field.
  if (desired === null || desired === undefined) return
  if (Array.isArray(desired)) return compareLists(desired, live, path, into)
  if (typeof desired === 'object') {
    const other = isRecord(live) ? live : undefined
    if (!other && Object.keys(desired).length > 0) return void into.push(difference(path, desired, live))
    for (const [key, value] of Object.entries(desired)) compare(value, other?.[key], joinPath(path, key), into)
    return
  }
  if (desired !== live) into.push(difference(path, desired, live))
}

/** Lists of named entries are matched by name, because others may add entries; other lists are compared by position. */
function compareLists(desired: readonly unknown[], live: unknown, path: string, into: FieldDifference[]): void {
  if (!Array.isArray(live)) {
    if (desired.length > 0) into.push(difference(path, desired, live))
    return
  }
  const byName = indexByName(live)
  if (indexByName(desired) && byName) {
    for (const item of desired as readonly { name: string }[])
      compare(item, byName.get(item.name), `${path}[name=${item.name}]`, into)
    return
  }
  if (desired.length !== live.length) return void into.push(difference(path, desired, live))
  desired.forEach((item, index) => {
    compare(item, live[index], `${path}[${index}]`, into)
  })
}

function indexByName(list: readonly unknown[]): ReadonlyMap<string, unknown> | undefined {
  const named = new Map<string, unknown>()
  for (const item of list) {
    if (!isRecord(item) || typeof item['name'] !== 'string' || named.has(item['name'])) return undefined
    named.set(item['name'], item)
  }
  return named.size > 0 ? named : undefined
}

function difference(path: string, desired: unknown, live: unknown): FieldDifference {
  return live === undefined ? { path, desired } : { path, desired, live }
}

function joinPath(path: string, key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? `${path}.${key}` : `${path}["${key}"]`
}

/**
 * Fields that `manager` has applied and that are desired no longer: an apply removes them. Fields that the server or
 * other managers have added do not count.
 */
export function removedFields(desired: KubeObject, live: KubeObject, manager: string): readonly FieldDifference[] {
  const removed: FieldDifference[] = []
  for (const { fieldsV1 = {} } of appliedEntries(live, manager)) {
    // The server stores `stringData` in `data`, so its owner cannot be compared.
    const { [`f:data`]: _, ...fields } = fieldsV1 as Readonly<Record<string, unknown>>
    findRemoved(desired.kind === 'Secret' ? fields : fieldsV1, desired, live, '', removed)
  }
  return removed
}

function findRemoved(fields: unknown, desired: unknown, live: unknown, path: string, into: FieldDifference[]): void {
  if (!isRecord(fields) || live === undefined) return
  const keys = Object.keys(fields).filter((key) => key !== '.')
  // A list that is owned as a whole is replaced as a whole.
  if (keys.length === 0 && Array.isArray(desired) && Array.isArray(live) && desired.length < live.length)
    into.push({ path, desired, live })
  for (const key of keys) {
    const [next, nextPath] = findStep(key, live, path)
    const [wanted] = findStep(key, desired, path)
    if (wanted === undefined || wanted === null) {
      if (next !== undefined) into.push({ path: nextPath, desired: undefined, live: next })
    } else findRemoved(fields[key], wanted, next, nextPath, into)
  }
}

/** The value that a key of `fieldsV1` names: a field, an item with these keys, or an item of a set. */
function findStep(key: string, parent: unknown, path: string): readonly [unknown, string] {
  const name = key.slice(2)
  if (key.startsWith('f:'))
    return [isRecord(parent) ? parent[name] : undefined, path === '' ? name : joinPath(path, name)]
  const items = Array.isArray(parent) ? (parent as readonly unknown[]) : []
  const identity: unknown = JSON.parse(name)
  const found = items.find((item) =>
    key.startsWith('k:') && isRecord(identity) && isRecord(item)
      ? Object.entries(identity).every(([field, value]) => item[field] === value)
      : item === identity,
  )
  return [found, `${path}[${name}]`]
}

function appliedEntries(live: KubeObject, manager: string) {
  const entries = live.metadata.managedFields ?? []
  return entries.filter(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && entry.subresource === undefined,
  )
}

/** A desired field that another manager owns. */
export interface ForeignField {
  readonly path: string
  readonly managers: readonly string[]
}

/** Desired fields that `manager` has not applied. Another manager may change such a field even if its value is correct now. */
export function foreignFields(desired: KubeObject, live: KubeObject, manager: string): readonly ForeignField[] {
  const entries = live.metadata.managedFields ?? []
  const applied = appliedEntries(live, manager).map((entry) => entry.fieldsV1 ?? {})
  const foreign: ForeignField[] = []
  const others = entries.filter((entry) => entry.manager !== manager)
  for (const path of leafPaths(ownableFields(desired), [])) {
    if (applied.some((fields) => owns(fields, path))) continue
    const managers = others.filter((other) => owns(other.fieldsV1 ?? {}, path)).map((other) => other.manager)
    foreign.push({ path: path.map(String).join('.'), managers: [...new Set(managers)] })
  }
  return foreign
}

/** Names and namespaces have no manager, and `stringData` is not stored. */
function ownableFields(desired: KubeObject): Record<string, unknown> {
  const {
    apiVersion: _a,
    kind: _k,
    status: _s,
    metadata,
    stringData: _t,
    ...rest
  } = desired as KubeObject & { status?: unknown; stringData?: unknown }
  const { labels, annotations } = metadata
  return { ...rest, ...((labels || annotations) && { metadata: { labels, annotations } }) }
}

type Step = string | number

function leafPaths(value: unknown, path: readonly Step[]): readonly (readonly Step[])[] {
  if (value === null || value === undefined) return []
  // The schema decides whether a list is atomic; ownership of the list and of its items both count.
  if (!isRecord(value)) return [path]
  const keys = Object.keys(value)
  return keys.length === 0 ? [path] : keys.flatMap((key) => leafPaths(value[key], [...path, key]))
}

/** An atomic field is owned as a whole: the path in `fieldsV1` may be shorter. */
function owns(fields: Readonly<Record<string, unknown>>, path: readonly Step[]): boolean {
  let current: unknown = fields
  for (const [depth, step] of path.entries()) {
    if (!isRecord(current)) return false
    const next = current[`f:${step}`]
    if (next === undefined) return depth > 0 && Object.keys(current).length === 0
    current = next
  }
  return true
}
