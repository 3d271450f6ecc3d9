/** Reads fields of raw objects by path: undefined when a field is missing or of another type. */
import type { Condition, KubeObject } from './object.ts'

export function getField(value: unknown, ...path: readonly string[]): unknown {
  let here = value
  for (const step of path) {
    if (typeof here !== 'object' || here === null) return undefined
    here = (here as Record<string, unknown>)[step]
  }
  return here
}

export function getString(value: unknown, ...path: readonly string[]): string | undefined {
  const found = getField(value, ...path)
  return typeof found === 'string' && found !== '' ? found : undefined
}

export function getNumber(value: unknown, ...path: readonly string[]): number | undefined {
  const found = getField(value, ...path)
  return typeof found === 'number' ? found : undefined
}

export function getList(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = getField(value, ...path)
  return Array.isArray(found) ? found : []
}

export function getConditions(object: KubeObject): readonly Condition[] {
  return getList(object, 'status', 'conditions').filter(isCondition)
}

/** Dumps that were edited or generated may contain anything in this list. */
function isCondition(value: unknown): value is Condition {
  if (typeof value !== 'object' || value === null) return false
  const { type, message } = value as Readonly<Record<string, unknown>>
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
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`
}

export function describeCommand({ apiVersion, kind, metadata }: KubeObject): string {
  const namespace = metadata.namespace === undefined ? '' : `-n ${metadata.namespace} `
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : ''
  return `kubectl ${namespace}describe ${kind.toLowerCase()}${group} ${metadata.name}`
}
