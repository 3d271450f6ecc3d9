/** Reads when a cloud was last backed up, which `stackloom backup` records at its control plane, and judges its age. Pure. */
import type { KubeObject } from '../api/object.ts'

export const LAST_BACKUP = 'stackloom.dev/last-backup'

const DAY_MS = 86_400_000
const OLD_DAYS = 30

export interface LastBackup {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly time: number
}

/** `rhoso1-20261117-170901-4711 2026-11-17T17:09:12.000Z`. */
export function formatLastBackup({ name, time }: LastBackup): string {
  return `${name} ${new Date(time).toISOString()}`
}

/** Undefined where `stackloom backup` was never used: another tool may do it. */
export function readLastBackup({ metadata }: KubeObject): LastBackup | undefined {
  const [name = '', text = ''] = metadata.annotations?.[LAST_BACKUP]?.split(' ') ?? []
  const time = Date.parse(text)
  return name === '' || Number.isNaN(time) ? undefined : { name, time }
}

/** Its age in days, if it is too old for a restore to be of much use. */
export function oldBackupDays({ time }: LastBackup, now: number): number | undefined {
  const days = Math.floor((now - time) / DAY_MS)
  return days >= OLD_DAYS ? days : undefined
}
