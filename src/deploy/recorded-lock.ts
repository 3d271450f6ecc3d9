/** The lock on record in the cluster: what it says, whether another one contradicts it, and what a run adds to it. Pure. */
import { diffLocks } from '../plan/changes.ts'
import type { Lock } from '../plan/lock.ts'
import { readLock } from '../plan/lock-file.ts'

/** From the shared inventory's text. One that cannot be read counts as none. */
export function parseRecordedLock(text: string | undefined): Lock | undefined {
  return text === undefined ? undefined : readLock(text, 'the lock on record').lock
}

/**
 * What is on record after a run for some clouds: their decisions are those of the present lock; of the others, who were
 * not deployed by it, nothing is claimed.
 */
export function mergeRecordedLock(recorded: Lock | undefined, present: Lock, clouds: ReadonlySet<string>): Lock {
  const deployed = (name: string): boolean => clouds.has(name) || present.clouds[name]?.leaving === true
  if (Object.keys(present.clouds).every(deployed)) return present
  const chosen = Object.entries(present.clouds).filter(([name]) => clouds.has(name))
  return { ...present, ...recorded, clouds: { ...recorded?.clouds, ...Object.fromEntries(chosen) } }
}

/** What both locks decide, differently, and nobody has allowed to move. New decisions contradict nothing. */
export function findLockConflicts(recorded: Lock, present: Lock, allowed: readonly string[] = []): readonly string[] {
  return diffLocks(recorded, present)
    .filter(({ moves }) => moves)
    .map((change) => ({ ...change, where: [change.cloud, change.network].filter(Boolean).join('/') }))
    .filter(({ cloud, where }) => !allowed.includes(cloud) && !allowed.includes(where))
    .map(({ where, what, from, to }) => `${where} ${what}: ${from} -> ${to}`)
}
