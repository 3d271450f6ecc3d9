/** Serves leaked and orphaned addresses as a metric, and records an Event of an IPPool that keeps some. Reads only. */
import { Gauge, type Registry } from 'prom-client'
import { findAbandoned, findPoolLeaks } from '../../addresses/audit-addresses.ts'
import { groupBy } from '../../api/collections.ts'
import { objectKey } from '../../api/object.ts'
import { formatGroupKind, type SnapshotIndex } from '../../api/snapshot.ts'
import type { Controller } from '../../kube/controller.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import { ATTACHMENT, WHEREABOUTS } from '../../verify/checks/check-definition.ts'

/** Pods are known by name only, so pods with an unreserved address are left to `stackloom doctor`. */
const kinds = ['leaked', 'leaked-overlap', 'orphaned'] as const

/** Namespaces with attachments: an operator for some namespaces does not know the pods of others. */
function listClouds(index: SnapshotIndex): ReadonlySet<string> {
  return new Set(index.all(formatGroupKind(ATTACHMENT)).map(({ metadata }) => metadata.namespace ?? ''))
}

/** Computed when Prometheus scrapes it; every kind of a cloud is present, so that an alert sees a zero. */
export function registerFaultMetrics(registry: Registry, index: SnapshotIndex): void {
  const gauge: Gauge = new Gauge({
    name: 'stackloom_address_faults',
    help: 'Addresses that are reserved for a pod or IPSet that does not exist, by cloud (namespace) and kind',
    labelNames: ['cloud', 'kind'],
    registers: [registry],
    collect: () => {
      gauge.reset()
      const faults = groupBy(findAbandoned(index), ({ namespace, kind }) => `${namespace}/${kind}`)
      for (const cloud of listClouds(index))
        for (const kind of kinds) gauge.set({ cloud, kind }, faults.get(`${cloud}/${kind}`)?.length ?? 0)
    },
  })
}

/** A pod that is being replaced has its entry without an object for a moment; whereabouts itself cleans up once a day. */
const LASTING_MS = 10 * 60_000

export function createLeakObserver(index: SnapshotIndex, record: (event: EventRecord) => void): Controller {
  /** Since when each leak of a pool is known. */
  const known = new Map<string, ReadonlyMap<string, number>>()
  const announced = new Map<string, string>()
  return {
    name: 'leak-observer',
    watches: [{ kind: WHEREABOUTS }],
    reconcile: async (request, { clock }) => {
      const key = objectKey(request)
      const pool = index.get(formatGroupKind(WHEREABOUTS), request.name, request.namespace)
      const before = known.get(key)
      known.delete(key)
      if (!pool) return void announced.delete(key)
      const clouds = listClouds(index)
      const leaks = findPoolLeaks(pool, index).filter(({ namespace }) => clouds.has(namespace))
      const since = new Map(leaks.map((leak) => [leak.address, before?.get(leak.address) ?? clock.now()]))
      if (leaks.length > 0) known.set(key, since)
      const lasting = leaks.filter(({ address }) => clock.now() - (since.get(address) ?? 0) >= LASTING_MS)
      const [first] = lasting
      const note =
        first &&
        `${lasting.length} addresses are kept for pods that do not exist, the first is ${first.address} of ${first.owner}; free them: \`stackloom ip repair --dry-run\``
      if (note === undefined) announced.delete(key)
      else if (note !== announced.get(key)) {
        announced.set(key, note)
        record({ regarding: pool, type: 'Warning', reason: 'AddressesLeaked', action: 'Audit', note })
      }
      // A pod that is deleted changes no IPPool if its release is lost.
      return { requeueAfterMs: LASTING_MS }
    },
  }
}
