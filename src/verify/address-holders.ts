/** Finds all objects of a snapshot that have an address or may assign it, and compares them with the plan. Pure. */
import { type KubeObject, objectIdentity } from '../api/object.ts'
import { allocatedPodAddresses, attachedNetworks } from '../api/pod-networks.ts'
import { formatObjectName, getField, getList, getString } from '../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../api/snapshot.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { type Address, compareAddresses, formatAddress, parseAddress } from '../net/address.ts'
import { parseRange, rangeContains } from '../net/range.ts'
import {
  ATTACHMENT,
  NET_CONFIG,
  NODE,
  POD,
  POOL,
  RESERVATION,
  SERVICE,
  WHEREABOUTS,
} from './checks/check-definition.ts'
import { heldByOther, heldTwice } from './findings/network-findings.ts'
import { ingressAddresses } from './readiness/load-balancer.ts'

const NODE_STATE = { apiVersion: 'nmstate.io/v1beta1', kind: 'NodeNetworkState' } as const

export const holderKinds = [SERVICE, POOL, POD, WHEREABOUTS, RESERVATION, NET_CONFIG, ATTACHMENT, NODE, NODE_STATE]

export interface LiveHolder {
  /** `has`: it uses the address. `gives`: an allocator that may assign it. */
  readonly kind: 'has' | 'gives'
  /** `Service openstack/keystone-internal`. */
  readonly who: string
  readonly namespace?: string
  /** For example `LoadBalancer address` or `hosts of internalapi`. */
  readonly how: string
  /** ISO time, if known. */
  readonly since?: string
}

export function findHolders(live: SnapshotIndex, text: string): readonly LiveHolder[] {
  const address = parseAddress(text)
  if (!address) return []
  const all = (kind: Parameters<typeof formatGroupKind>[0]): readonly KubeObject[] => live.all(formatGroupKind(kind))
  return [
    ...all(SERVICE).flatMap((service) => serviceHolder(service, address)),
    ...all(WHEREABOUTS).flatMap((pool) => podHolder(pool, address, live)),
    ...all(POD).flatMap((pod) => attachedHolders(pod, address)),
    ...all(RESERVATION).flatMap((reservation) => reservationHolder(reservation, address)),
    ...nodeHolders(all(NODE), all(NODE_STATE), address),
    ...all(POOL).flatMap((pool) =>
      findAllocator(pool, getList(pool, 'spec', 'addresses'), 'LoadBalancer Services', address),
    ),
    ...all(ATTACHMENT).flatMap((attachment) =>
      findAllocator(attachment, attachmentRanges(attachment), 'pods', address),
    ),
    ...all(NET_CONFIG).flatMap((config) => netConfigAllocators(config, address)),
  ]
}

function createHolder(object: KubeObject, how: string, since: string | undefined): LiveHolder {
  const { namespace } = object.metadata
  return {
    kind: 'has',
    who: formatObjectName(object),
    ...(namespace !== undefined && { namespace }),
    how,
    ...(since !== undefined && { since }),
  }
}

function isSameAddress(text: unknown, address: Address): boolean {
  const read = typeof text === 'string' ? parseAddress(text.split('/')[0] ?? '') : undefined
  return read !== undefined && compareAddresses(read, address) === 0
}

/** The address was assigned when the status was written; the Service may be older. */
function serviceHolder(service: KubeObject, address: Address): readonly LiveHolder[] {
  if (!ingressAddresses(service).some((ip) => isSameAddress(ip, address))) return []
  const written = service.metadata.managedFields?.find(({ subresource }) => subresource === 'status')?.time
  const pool = service.metadata.annotations?.['metallb.io/ip-allocated-from-pool']
  const how = pool === undefined ? 'LoadBalancer address' : `LoadBalancer address from pool ${pool}`
  return [createHolder(service, how, written ?? service.metadata.creationTimestamp)]
}

function podHolder(pool: KubeObject, address: Address, live: SnapshotIndex): readonly LiveHolder[] {
  const text = formatAddress(address)
  return allocatedPodAddresses(pool)
    .filter((podAddress) => podAddress.address === text)
    .map(({ pod }) => {
      const [namespace = '', name = ''] = pod.split('/')
      const running = live.get('Pod', name, namespace)
      const since = getString(running, 'status', 'startTime')
      const gone = running || live.unread('Pod') !== undefined ? '' : '; the pod no longer exists'
      return {
        kind: 'has',
        who: `Pod ${pod}`,
        namespace,
        how: `by whereabouts, ${objectIdentity(pool)}${gone}`,
        ...(since !== undefined && { since }),
      }
    })
}

/** From the network-status of Multus, for static addresses that whereabouts does not allocate. */
function attachedHolders(pod: KubeObject, address: Address): readonly LiveHolder[] {
  return (attachedNetworks(pod) ?? [])
    .filter(({ ips }) => ips.some((ip) => isSameAddress(ip, address)))
    .map(({ name }) => createHolder(pod, `on ${name || 'its own network'}`, getString(pod, 'status', 'startTime')))
}

function reservationHolder(reservation: KubeObject, address: Address): readonly LiveHolder[] {
  const held = Object.entries((getField(reservation, 'spec', 'reservation') ?? {}) as Record<string, unknown>)
  return held
    .filter(([, entry]) => isSameAddress(getString(entry, 'address'), address))
    .map(([network]) => createHolder(reservation, `on ${network}`, reservation.metadata.creationTimestamp))
}

/** Addresses of nodes from NodeNetworkState or, without nmstate, from the Node status. */
function nodeHolders(
  nodes: readonly KubeObject[],
  states: readonly KubeObject[],
  address: Address,
): readonly LiveHolder[] {
  const seen = states.flatMap((state) =>
    getList(state, 'status', 'currentState', 'interfaces')
      .filter((iface) =>
        ['ipv4', 'ipv6'].some((family) =>
          getList(iface, family, 'address').some((entry) => isSameAddress(getString(entry, 'ip'), address)),
        ),
      )
      .map((iface) => ({
        kind: 'has' as const,
        who: `Node ${state.metadata.name}`,
        how: `on ${getString(iface, 'name') ?? 'an interface'}`,
      })),
  )
  const reported = nodes
    .filter((node) =>
      getList(node, 'status', 'addresses').some((entry) => isSameAddress(getString(entry, 'address'), address)),
    )
    .filter((node) => !seen.some((holder) => holder.who === `Node ${node.metadata.name}`))
    .map((node) => createHolder(node, "the node's own address", node.metadata.creationTimestamp))
  return [...seen, ...reported]
}

function findAllocator(
  object: KubeObject,
  ranges: readonly unknown[],
  to: string,
  address: Address,
): readonly LiveHolder[] {
  const inside = ranges.map(String).find((text) => {
    const range = parseRange(text)
    return range !== undefined && rangeContains(range, address)
  })
  if (inside === undefined) return []
  const { namespace } = object.metadata
  return [
    {
      kind: 'gives',
      who: formatObjectName(object),
      ...(namespace !== undefined && { namespace }),
      how: `${inside}, to ${to}`,
    },
  ]
}

function attachmentRanges(attachment: KubeObject): readonly string[] {
  try {
    const ipam = getField(JSON.parse(getString(attachment, 'spec', 'config') ?? '{}'), 'ipam')
    return [ipam, ...getList(ipam, 'ipRanges')].flatMap((range) => {
      const [start, end] = [getString(range, 'range_start'), getString(range, 'range_end')]
      return start !== undefined && end !== undefined ? [`${start}-${end}`] : []
    })
  } catch {
    return []
  }
}

function netConfigAllocators(config: KubeObject, address: Address): readonly LiveHolder[] {
  return getList(config, 'spec', 'networks').flatMap((network) => {
    const ranges = getList(network, 'subnets')
      .flatMap((subnet) => getList(subnet, 'allocationRanges'))
      .map((range) => `${getString(range, 'start')}-${getString(range, 'end')}`)
    return findAllocator(config, ranges, `hosts on ${getString(network, 'name')}`, address)
  })
}

/** Reports an address with two holders, or with a holder in another namespace than planned. */
export function holderFindings(
  address: string,
  holders: readonly LiveHolder[],
  /** Namespaces for which the address is planned; empty if it is not planned. */
  planned: readonly string[],
): readonly Finding[] {
  const having = holders.filter(({ kind }) => kind === 'has')
  const owners = new Map(having.map((holder) => [ownerKey(holder), holder.who]))
  const twice =
    owners.size > 1
      ? [finding(heldTwice, { address, holders: [...owners.values()] }, { owners: [...owners.values()] })]
      : []
  const allowed = new Set(planned)
  const strangers =
    planned.length === 0 ? [] : having.filter(({ namespace }) => namespace !== undefined && !allowed.has(namespace))
  const other = strangers.map((stranger) =>
    finding(heldByOther, { address, holder: stranger.who, planned: [...allowed].join(', ') }),
  )
  return [...twice, ...other]
}

/** Services of one namespace may share an address; a pod is reported by both whereabouts and Multus. */
function ownerKey(holder: LiveHolder): string {
  return holder.who.startsWith('Service ') ? `Services of ${holder.namespace}` : holder.who
}
