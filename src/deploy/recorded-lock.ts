/** Whether a lock contradicts the one that the cluster was deployed by: what would move, in words. Pure. */
import { changesBetween } from '../plan/changes.ts'
import type { Lock } from '../plan/lock.ts'

/** What both locks decide, differently, and nobody has allowed to move. New decisions contradict nothing. */
export function movedBetween(
  recorded: Lock,
  present: Lock,
  allowed: readonly string[] = [],
): readonly string[] {
  return changesBetween(recorded, present)
    .filter(({ moves }) => moves)
    .map((change) => ({ ...change, where: [change.cloud, change.network].filter(Boolean).join('/') }))
    .filter(({ cloud, where }) => !allowed.includes(cloud) && !allowed.includes(where))
    .map(({ where, what, from, to }) => `${where} ${what}: ${from} -> ${to}`)
}
