/**
 * Fields that upstream replaced, in either direction: a site file for an older or a newer release than the target has
 * the other name. The releases that have each of them are in `data/releases.json`.
 */
import { isRecord } from '../../api/json.ts'
import { type FieldPath, fieldNames } from './fields.ts'
import type { FieldGraph } from './schema-graph.ts'

/** The older name first. A field is suggested for another one of its group, where the schema has it. */
const groups: Readonly<Record<string, readonly (readonly string[])[]>> = {
  OpenStackControlPlane: [
    ['rabbitMqClusterName', 'messagingBus'],
    ['notificationsBusInstance', 'notificationsBus'],
    ['apiMessageBusInstance', 'messagingBus'],
    ['cellMessageBusInstance', 'messagingBus'],
    ['cinderBackup', 'cinderBackups'],
    ['databaseUser', 'databaseAccount'],
    ['apiDatabaseUser', 'apiDatabaseAccount'],
    ['cellDatabaseUser', 'cellDatabaseAccount'],
    ['externalEndpoints', 'override'],
    ['externalEndpoint', 'override'],
    ['glanceAPIExternal', 'glanceAPIs'],
    ['glanceAPIInternal', 'glanceAPIs'],
  ],
}

/** Fields for the name of a RabbitMQ that releases still have next to their replacement: `messagingBus: {cluster: NAME}`. */
const replacedBuses: Readonly<Record<string, readonly string[]>> = {
  // Services that only send notifications, such as keystone, have no messagingBus.
  rabbitMqClusterName: ['messagingBus', 'notificationsBus'],
  notificationsBusInstance: ['notificationsBus'],
  apiMessageBusInstance: ['messagingBus'],
  cellMessageBusInstance: ['messagingBus'],
}

/** The name that replaces the last step of a path, if the schema has it there. */
export function findRename(kind: string, path: FieldPath, known: readonly string[]): string | undefined {
  const name = String(path.at(-1))
  const group = (groups[kind] ?? []).filter((names) => names.includes(name)).flat()
  return group.find((other) => other !== name && known.includes(other))
}

/** The field with the bus that replaces the last step of a path, if the schema has it there. */
export function findBus(path: FieldPath, schema: FieldGraph): string | undefined {
  const names = replacedBuses[String(path.at(-1))]
  if (!names) return undefined
  const known = fieldNames(schema, path.slice(0, -1))
  return names.find((name) => known.includes(name))
}

/**
 * The value with every RabbitMQ in the field that the schema has for it, as the operator's webhook stores it: an object
 * with the older field would always differ from the stored one. The value itself where it has no older field.
 */
export function moveBuses<T>(value: T, schema: FieldGraph): T {
  return move(value, schema, []) as T
}

/** Copies only what changes; `path` is one list that grows and shrinks. */
function move(value: unknown, schema: FieldGraph, path: string[]): unknown {
  if (!isRecord(value)) return value
  let moved: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const child = value[key]
    const isText = typeof child === 'string'
    if (isText ? child === '' || !Object.hasOwn(replacedBuses, key) : typeof child !== 'object') continue
    path.push(key)
    const bus = isText ? findBus(path, schema) : undefined
    const next = isText ? child : move(child, schema, path)
    path.pop()
    if (bus !== undefined) {
      moved ??= { ...value }
      delete moved[key]
      // What is written at the newer field is the more specific: a user adds a virtual host there, or another RabbitMQ.
      moved[bus] = { cluster: child, ...(moved[bus] as object | undefined) }
    } else if (next !== child) (moved ??= { ...value })[key] = next
  }
  return moved ?? value
}
