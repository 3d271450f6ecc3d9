/** Lists every address that an object of the cluster has, in one pass; `address-holders.ts` explains a single one. Pure. */
import type { KubeObject } from '../api/object.ts'
import { allocatedPodAddresses, attachedNetworks } from '../api/pod-networks.ts'
import { formatObjectName, getField, getList, getString } from '../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../api/snapshot.ts'
import { formatAddress, parseAddress } from '../net/address.ts'
import { NODE, POD, RESERVATION, SERVICE, WHEREABOUTS } from './checks/check-definition.ts'
import { ingressAddresses } from './readiness/load-balancer.ts'

export interface HeldAddress {
  /** Canonical. */
  readonly address: string
  readonly by: 'service' | 'pod' | 'host' | 'node'
  /** `Service openstack/keystone-internal`. */
  readonly holder: string
  readonly namespace?: string
}

export function listHeldAddresses(live: Pick<SnapshotIndex, 'all'>): readonly HeldAddress[] {
  const all = (kind: Parameters<typeof formatGroupKind>[0]): readonly KubeObject[] => live.all(formatGroupKind(kind))
  const hold = (object: KubeObject, by: HeldAddress['by'], texts: readonly unknown[]): readonly HeldAddress[] =>
    texts.flatMap((text) => {
      const address = typeof text === 'string' ? parseAddress(text.split('/')[0] ?? '') : undefined
      const { namespace } = object.metadata
      if (!address) return []
      return [
        {
          address: formatAddress(address),
          by,
          holder: formatObjectName(object),
          ...(namespace !== undefined && { namespace }),
        },
      ]
    })
  return [
    ...all(SERVICE).flatMap((service) => hold(service, 'service', ingressAddresses(service))),
    ...withoutCopies([
      ...all(WHEREABOUTS).flatMap(podsOfPool),
      ...all(POD).flatMap((pod) =>
        hold(
          pod,
          'pod',
          // The first network is the cluster's own.
          (attachedNetworks(pod) ?? []).filter(({ name }) => name.includes('/')).flatMap(({ ips }) => ips),
        ),
      ),
    ]),
    ...all(RESERVATION).flatMap((reservation) =>
      hold(
        reservation,
        'host',
        Object.values((getField(reservation, 'spec', 'reservation') ?? {}) as Record<string, unknown>).map((entry) =>
          getString(entry, 'address'),
        ),
      ),
    ),
    ...withoutCopies([
      ...live.all('nmstate.io/NodeNetworkState').flatMap((state) =>
        getList(state, 'status', 'currentState', 'interfaces').flatMap((nic) =>
          hold(
            { ...state, kind: 'Node' },
            'node',
            ['ipv4', 'ipv6'].flatMap((family) =>
              getList(nic, family, 'address').map((entry) => getString(entry, 'ip')),
            ),
          ),
        ),
      ),
      ...all(NODE).flatMap((node) =>
        hold(
          node,
          'node',
          getList(node, 'status', 'addresses').map((entry) => getString(entry, 'address')),
        ),
      ),
    ]),
  ]
}

function podsOfPool(pool: KubeObject): readonly HeldAddress[] {
  return allocatedPodAddresses(pool).map(({ pod, address }) => ({
    address,
    by: 'pod',
    holder: `Pod ${pod}`,
    namespace: pod.split('/')[0] ?? '',
  }))
}

/** The same holder is often reported by two programs. */
function withoutCopies(held: readonly HeldAddress[]): readonly HeldAddress[] {
  return [...new Map(held.map((entry) => [`${entry.address} ${entry.holder}`, entry])).values()]
}
