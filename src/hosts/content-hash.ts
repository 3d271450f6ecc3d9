/**
 * Computes the hashes of Secrets and ConfigMaps as lib-common does, which openstack-operator records in the status of
 * deployments. Pure. Hashes that differ name the object that has changed since a deployment.
 */
import { createHash } from 'node:crypto'
import { asRecord } from '../api/json.ts'
import type { KubeObject } from '../api/object.ts'
import { getString } from '../api/raw-object.ts'

/** Undefined for a Secret whose values were left out, as in a dump. */
export function hashSecret(secret: KubeObject): string | undefined {
  const data = stringMap(secret['data'])
  if (!Object.values(data).every(isBase64)) return undefined
  return hashObject({ ...nonEmpty('data', data), ...nonEmpty('type', getString(secret, 'type') ?? '') })
}

export function hashConfigMap(configMap: KubeObject): string {
  return hashObject({
    ...nonEmpty('data', stringMap(configMap['data'])),
    ...nonEmpty('binaryData', stringMap(configMap['binaryData'])),
  })
}

/** Go sorts the keys of a map by bytes; keys of Secrets and ConfigMaps are ASCII. */
function stringMap(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(asRecord(value)).map(([key, text]) => [key, String(text)] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Go's `omitempty`. */
function nonEmpty(field: string, value: string | Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  return (typeof value === 'string' ? value === '' : Object.keys(value).length === 0) ? {} : { [field]: value }
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function isBase64(text: string): boolean {
  return BASE64.test(text)
}

/** SafeEncodeString of Kubernetes: no vowels and no digits that look like letters. */
const SAFE = 'bcdfghjklmnpqrstvwxz2456789'

function hashObject(value: object): string {
  const digest = createHash('sha256').update(goJson(value)).digest()
  // Go prints an array of bytes as decimal numbers in brackets; each character of that text is encoded.
  const printed = `[${[...digest].join(' ')}]`
  return [...Buffer.from(printed)].map((byte) => SAFE[byte % SAFE.length]).join('')
}

/** Go escapes what would be markup in HTML and the two line separators of JavaScript. */
function goJson(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
