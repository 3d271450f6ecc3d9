/**
 * Records every status of IPSets with its own watch, and reports addresses that an IPSet had and lost.
 *
 * Polling would miss an address that was there only in between.
 */
import { type IpSet, ipSets } from '../../../src/api/ipset.ts'
import { objectKey } from '../../../src/api/object.ts'
import { systemClock } from '../../../src/clock/clock.ts'
import { createCache } from '../../../src/kube/cache.ts'
import { createReflector } from '../../../src/kube/reflector.ts'
import type { Cluster } from '../../cluster.ts'

export interface History {
  /** The number of recorded changes. */
  readonly changes: () => number
  /** Addresses that changed or were removed, and IPSets that are no longer Ready. */
  readonly lost: () => readonly string[]
  readonly close: () => Promise<void>
}

export async function openHistory({ client }: Cluster, isRecorded: (namespace: string) => boolean): Promise<History> {
  const cache = createCache<IpSet>()
  const control = new AbortController()
  const source = { kind: ipSets }
  const reflector = createReflector({ client, source, cache, clock: systemClock })
  const running = reflector.run(control.signal)
  await cache.waitForSync()
  const lost: string[] = []
  let changes = 0
  const end = cache.subscribe((change) => {
    if (change.kind !== 'modified' || !isRecorded(change.object.metadata.namespace ?? '')) return
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
  // Another IPSet with this name, or one that releases its addresses.
  if (before.metadata.uid !== after.metadata.uid || after.metadata.deletionTimestamp) return []
  const current = reportedState(after)
  return reportedState(before)
    .filter((entry) => !current.includes(entry))
    .map((entry) => `${objectKey(after.metadata)} had ${entry}, then ${current.join(', ') || 'nothing'}`)
}

function reportedState({ status }: IpSet): readonly string[] {
  const ready = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True')
  const addresses = (status?.reservations ?? []).map(({ network, address }) => `${network}:${address}`)
  return [...(ready ? ['Ready'] : []), ...addresses]
}
