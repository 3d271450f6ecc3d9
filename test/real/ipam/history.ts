/**
 * Every word that IPSets ever said of their addresses, by a watch of its own: what somebody has once, it keeps.
 *
 * Whoever only looks now and then does not see an address that was there in between.
 */
import { type IpSet, ipSets } from '../../../src/api/ipset.ts'
import { objectKey } from '../../../src/api/object.ts'
import { systemClock } from '../../../src/clock/clock.ts'
import { createCache } from '../../../src/kube/cache.ts'
import { createReflector } from '../../../src/kube/reflector.ts'
import type { Cluster } from '../../cluster.ts'

export interface History {
  /** How many changes were seen. */
  readonly changes: () => number
  /** Addresses that were exchanged or taken away, and those who were Ready and are no more. */
  readonly lost: () => readonly string[]
  readonly close: () => Promise<void>
}

export async function openHistory({ client }: Cluster, concerns: (namespace: string) => boolean): Promise<History> {
  const cache = createCache<IpSet>()
  const control = new AbortController()
  const source = { kind: ipSets }
  const reflector = createReflector({ client, source, cache, clock: systemClock })
  const running = reflector.run(control.signal)
  await cache.waitForSync()
  const lost: string[] = []
  let changes = 0
  const end = cache.subscribe((change) => {
    if (change.kind !== 'modified' || !concerns(change.object.metadata.namespace ?? '')) return
    changes += 1
    lost.push(...lostBetween(change.previous, change.object))
  })
  return {
    changes: () => changes,
    lost: () => lost,
    close: async () => {
      end()
      control.abort()
      await running
    },
  }
}

function lostBetween(before: IpSet, after: IpSet): readonly string[] {
  // Another one of that name, or one that gives back what it had.
  if (before.metadata.uid !== after.metadata.uid || after.metadata.deletionTimestamp) return []
  const given = saidBy(after)
  return saidBy(before)
    .filter((one) => !given.includes(one))
    .map((one) => `${objectKey(after.metadata)} said ${one}, then ${given.join(', ') || 'nothing'}`)
}

function saidBy({ status }: IpSet): readonly string[] {
  const ready = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True')
  const addresses = (status?.reservations ?? []).map(({ network, address }) => `${network}:${address}`)
  return [...(ready ? ['Ready'] : []), ...addresses]
}
