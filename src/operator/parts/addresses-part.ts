/** Defines the operator part that counts used and free addresses of clouds as a metric. It reads only. */
import { Gauge, type Registry } from 'prom-client'
import { type CountInput, countAddresses, countedKinds } from '../../addresses/count-addresses.ts'
import type { OperatorPart, PartContext } from './part.ts'

const READ = ['get', 'list', 'watch']

export const addressesPart: OperatorPart = {
  name: 'addresses',
  optional: true,
  kinds: countedKinds,
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
    { apiGroups: [''], resources: ['services'], verbs: READ, reason: 'count the addresses that Services have' },
    {
      apiGroups: ['network.openstack.org'],
      resources: ['netconfigs', 'reservations'],
      verbs: READ,
      reason: 'count the addresses that hosts have',
    },
  ],
  webhooks: [],
  start: (context) => {
    startAddresses(context)
    return {}
  },
  observe: { kinds: countedKinds, start: startAddresses },
}

function startAddresses({ runtime, metrics }: PartContext): void {
  const [attachments, ipPools, addressPools, services, netConfigs, reservations] = countedKinds.map((kind) =>
    runtime.cache({ kind }),
  )
  registerCapacityMetrics(metrics.registry, () => ({
    attachments: attachments?.list() ?? [],
    ipPools: ipPools?.list() ?? [],
    addressPools: addressPools?.list() ?? [],
    services: services?.list() ?? [],
    netConfigs: netConfigs?.list() ?? [],
    reservations: reservations?.list() ?? [],
  }))
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
