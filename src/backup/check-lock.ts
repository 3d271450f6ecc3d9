/** Compares the lock of a backup with the lock on record in the cluster: what the cloud had may belong to another cloud by now. Pure. */
import { getOwn } from '../api/collections.ts'
import { diffLocks } from '../plan/changes.ts'
import type { Lock, LockedNetwork } from '../plan/lock.ts'

/** `internalapi: VLAN 21 of enp6s0 belongs to rhoso3`, or `internalapi vlan: 31 now, 21 in the backup`. */
export function findTakenDecisions(saved: Lock, recorded: Lock, cloud: string): readonly string[] {
  const before = getOwn(saved.clouds, cloud)
  if (!before) return []
  const only = (lock: Lock): Lock => {
    const entry = getOwn(lock.clouds, cloud)
    return { ...lock, clouds: entry ? { [cloud]: entry } : {} }
  }
  const moved = diffLocks(only(recorded), only(saved))
    .filter(({ moves }) => moves)
    .map(({ network, what, from, to }) => `${network ?? cloud} ${what}: ${from} now, ${to} in the backup`)
  const taken = Object.entries(before.networks).flatMap(([name, network]) =>
    Object.keys(recorded.clouds)
      // A segment that both had at the time of the backup is shared on purpose.
      .filter((other) => other !== cloud && uses(recorded, other, network) && !uses(saved, other, network))
      .map((other) => `${name}: ${formatSegment(network)} belongs to ${other}`),
  )
  return [...moved, ...taken]
}

function uses(lock: Lock, cloud: string, { nic, vlan }: LockedNetwork): boolean {
  const networks = Object.values(getOwn(lock.clouds, cloud)?.networks ?? {})
  return nic !== undefined && networks.some((network) => network.nic === nic && network.vlan === vlan)
}

function formatSegment({ nic, vlan }: LockedNetwork): string {
  return vlan === undefined ? `untagged ${nic}` : `VLAN ${vlan} of ${nic}`
}

/** The lock to record, so that no later plan assigns the cloud's addresses again. */
export function recordCloud(recorded: Lock, saved: Lock, cloud: string): Lock {
  const entry = getOwn(saved.clouds, cloud)
  return entry ? { ...recorded, clouds: { ...recorded.clouds, [cloud]: entry } } : recorded
}
