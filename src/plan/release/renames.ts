/**
 * Fields that upstream replaced, in either direction: a site file for an older or a newer release than the target has
 * the other name. The releases that have each of them are in `data/releases.json`.
 */
import type { FieldPath } from './fields.ts'

/** Names of which a schema has one; a field is suggested for another one of its group. */
const groups: Readonly<Record<string, readonly (readonly string[])[]>> = {
  OpenStackControlPlane: [
    ['rabbitMqClusterName', 'messagingBus'],
    ['notificationsBusInstance', 'notificationsBus'],
    ['apiMessageBusInstance', 'messagingBus'],
    ['cellMessageBusInstance', 'messagingBus'],
    ['cinderBackup', 'cinderBackups'],
  ],
}

/** The name that replaces the last step of a path, if the schema has it there. */
export function findRename(kind: string, path: FieldPath, known: readonly string[]): string | undefined {
  const name = String(path.at(-1))
  const group = (groups[kind] ?? []).filter((names) => names.includes(name)).flat()
  return group.find((other) => other !== name && known.includes(other))
}
