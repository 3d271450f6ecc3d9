/** Defines the operator part that counts used, free and leaked addresses of clouds as metrics. It reads only. */
import { Gauge, type Registry } from 'prom-client'
import { IP_SET, OVERLAP } from '../../addresses/audit-addresses.ts'
import { type CountInput, countAddresses, countedKinds } from '../../addresses/count-addresses.ts'
import { type GroupVersionKind, objectKey } from '../../api/object.ts'
import { formatGroupKind, type SnapshotIndex } from '../../api/snapshot.ts'
import type { CacheReader } from '../../kube/cache.ts'
import { POD } from '../../verify/checks/check-definition.ts'
import { createLeakObserver, registerFaultMetrics } from './address-faults.ts'
import type { OperatorPart, PartContext } from './part.ts'

const READ = ['get', 'list', 'watch']

export const addressesPart: OperatorPart = {
  name: 'addresses',
  optional: true,
  kinds: [...countedKinds, IP_SET],
  optionalKinds: [OVERLAP],
  crds: { own: [], upstream: [] },
  rules: [
    {
      apiGroups: ['k8s.cni.cncf.io'],
      resources: ['network-attachment-definitions'],
      verbs: READ,
      reason: 'know which addresses pods get',
    },
    {
      apiGroups: ['whereabouts.cni.cncf.io'],
      resources: ['ippools'],
      verbs: READ,
      reason: 'count the addresses that pods have',
    },
    {
      apiGroups: ['metallb.io'],
      resources: ['ipaddresspools'],
      verbs: READ,
      reason: 'know which addresses Services get',
    },
    {
      apiGroups: ['whereabouts.cni.cncf.io'],
      resources: ['overlappingrangeipreservations'],
      verbs: READ,
      reason: 'find addresses that are blocked for pods that do not exist',
    },
    { apiGroups: [''], resources: ['services'], verbs: READ, reason: 'count the addresses that Services have' },
    {
      apiGroups: [''],
      resources: ['pods'],
      verbs: READ,
      reason: 'find addresses of pods that do not exist; names only',
    },
    {
      apiGroups: ['network.openstack.org'],
      resources: ['netconfigs', 'reservations', 'ipsets'],
      verbs: READ,
      reason: 'count the addresses that hosts have, and those without an owner',
    },
  ],
  webhooks: [],
  start: (context) => {
    startAddresses(context)
    return {}
  },
  observe: { kinds: [...countedKinds, IP_SET], start: startAddresses },
}

function startAddresses({ runtime, metrics, record, has }: PartContext): void {
  const caches = countedKinds.map((kind) => runtime.cache({ kind }))
  const [attachments, ipPools, addressPools, services, netConfigs, reservations] = caches
  registerCapacityMetrics(metrics.registry, () => ({
    attachments: attachments?.list() ?? [],
    ipPools: ipPools?.list() ?? [],
    addressPools: addressPools?.list() ?? [],
    services: services?.list() ?? [],
    netConfigs: netConfigs?.list() ?? [],
    reservations: reservations?.list() ?? [],
  }))
  const overlaps = has?.(OVERLAP) ? [[OVERLAP, runtime.cache({ kind: OVERLAP })] as const] : []
  const owners = [POD, IP_SET].map((kind) => [kind, runtime.cache({ kind, metadataOnly: true })] as const)
  const index = indexCaches([
    ...countedKinds.map((kind, position) => [kind, caches[position]] as const),
    ...owners,
    ...overlaps,
  ])
  registerFaultMetrics(metrics.registry, index)
  runtime.add(createLeakObserver(index, record))
}

/** A view of the caches as they are when it is read. */
function indexCaches(entries: readonly (readonly [GroupVersionKind, CacheReader | undefined])[]): SnapshotIndex {
  const byKind = new Map(entries.map(([kind, cache]) => [formatGroupKind(kind), cache]))
  return {
    all: (groupKind) => byKind.get(groupKind)?.list() ?? [],
    get: (groupKind, name, namespace = '') => byKind.get(groupKind)?.get(objectKey({ name, namespace })),
    // Before the first list is complete, absence proves nothing.
    unread: (groupKind) => (byKind.get(groupKind)?.hasSynced() === false ? 'not listed yet' : undefined),
  }
}

/** Of one namespace: more than any cloud has, and few enough that a tenant cannot fill Prometheus. */
const MAX_NETWORKS = 100

/** Computed when Prometheus scrapes it, so that a network that was deleted is gone at once. */
export function registerCapacityMetrics(registry: Registry, input: () => CountInput): void {
  const gauge: Gauge = new Gauge({
    name: 'stackloom_addresses',
    help: 'Addresses by cloud (namespace), network, allocator (pods, vips, hosts) and state (used, free)',
    labelNames: ['cloud', 'network', 'role', 'state'],
    registers: [registry],
    collect: () => {
      gauge.reset()
      const counted = new Map<string, number>()
      for (const { namespace, network, role, used, free } of countAddresses(input())) {
        const seen = (counted.get(namespace) ?? 0) + 1
        counted.set(namespace, seen)
        if (seen > MAX_NETWORKS) continue
        gauge.set({ cloud: namespace, network, role, state: 'used' }, used)
        gauge.set({ cloud: namespace, network, role, state: 'free' }, free)
      }
    },
  })
}
