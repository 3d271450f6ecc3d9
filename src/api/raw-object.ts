/** Reads fields of raw objects by path: undefined when a field is missing or of another type. */
import { asList, asRecord, asString, type JsonRecord } from './json.ts'
import { apiGroup, type Condition, type KubeObject, objectKey } from './object.ts'

export function getField(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (parent, key) => (typeof parent === 'object' && parent !== null ? (parent as JsonRecord)[key] : undefined),
    value,
  )
}

export function getString(value: unknown, ...path: readonly string[]): string | undefined {
  return asString(getField(value, ...path))
}

export function getNumber(value: unknown, ...path: readonly string[]): number | undefined {
  const found = getField(value, ...path)
  return typeof found === 'number' ? found : undefined
}

export function getList(value: unknown, ...path: readonly string[]): readonly unknown[] {
  return asList(getField(value, ...path))
}

export function getConditions(object: KubeObject): readonly Condition[] {
  return getList(object, 'status', 'conditions').filter(isCondition)
}

/** Dumps that were edited or generated may contain anything in this list. */
function isCondition(value: unknown): value is Condition {
  const { type, message } = asRecord(value)
  return typeof type === 'string' && (message === undefined || typeof message === 'string')
}

/** By type, never by index: controllers reorder and add conditions. */
export function findCondition(object: KubeObject, type: string): Condition | undefined {
  return getConditions(object).find((condition) => condition.type === type)
}

export function ageMs(time: string | undefined, now: number): number {
  const then = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(then) ? 0 : Math.max(0, now - then)
}

/** `Service openstack/keystone-internal`, for messages. */
export function formatObjectName({ kind, metadata }: KubeObject): string {
  return `${kind} ${objectKey(metadata)}`
}

export function describeCommand({ apiVersion, kind, metadata }: KubeObject): string {
  const namespace = metadata.namespace === undefined ? '' : `-n ${metadata.namespace} `
  const group = apiGroup(apiVersion)
  return `kubectl ${namespace}describe ${kind.toLowerCase()}${group && `.${group}`} ${metadata.name}`
}
