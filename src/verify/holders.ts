/**
 * Who really holds an address: everything on a cluster that has it or may give it out, and since when.
 *
 * Pure, over a snapshot. What the plan says is `plan/lookup.ts`; where the two disagree is told here.
 */
import { identityOf, type KubeObject } from '../api/object.ts'
import { at, listAt, nameOf, textAt } from '../api/raw-object.ts'
import { groupKindOf, type SnapshotIndex } from '../api/snapshot.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { heldByOther, heldTwice } from '../errors/verify-networks.ts'
import { type Address, compareAddresses, formatAddress, parseAddress } from '../net/address.ts'
import { parseRange, rangeContains } from '../net/range.ts'
import { ATTACHMENT, NET_CONFIG, NODE, POD, POOL, RESERVATION, SERVICE, WHEREABOUTS } from './checks/kinds.ts'
import { podAddressesOf } from './checks/networks.ts'
import { ingressOf } from './readiness/services.ts'

const NODE_STATE = { apiVersion: 'nmstate.io/v1beta1', kind: 'NodeNetworkState' } as const

export const holderKinds = [
  SERVICE,
  POOL,
  POD,
  WHEREABOUTS,
  RESERVATION,
  NET_CONFIG,
  ATTACHMENT,
  NODE,
  NODE_STATE,
]

export interface LiveHolder {
  /** `has`: it is its address. `gives`: an allocator that may hand it out. */
  readonly kind: 'has' | 'gives'
  /** `Service openstack/keystone-internal`. */
  readonly who: string
  readonly namespace?: string
  /** In a few words: `LoadBalancer address`, `hosts of internalapi`. */
  readonly how: string
  /** ISO time, where the cluster knows it. */
  readonly since?: string
}

export function liveHolders(live: SnapshotIndex, text: string): readonly LiveHolder[] {
  const address = parseAddress(text)
  if (!address) return []
  const all = (kind: Parameters<typeof groupKindOf>[0]): readonly KubeObject[] => live.all(groupKindOf(kind))
  return [
    ...all(SERVICE).flatMap((one) => serviceHolder(one, address)),
    ...all(WHEREABOUTS).flatMap((one) => podHolder(one, address, live)),
    ...all(POD).flatMap((one) => attachedHolder(one, address)),
    ...all(RESERVATION).flatMap((one) => reservationHolder(one, address)),
    ...nodeHolders(all(NODE), all(NODE_STATE), address),
    ...all(POOL).flatMap((one) =>
      giver(one, listAt(one, 'spec', 'addresses'), 'LoadBalancer Services', address),
    ),
    ...all(ATTACHMENT).flatMap((one) => giver(one, attachmentRanges(one), 'pods', address)),
    ...all(NET_CONFIG).flatMap((one) => netConfigGiver(one, address)),
  ]
}

function has(object: KubeObject, how: string, since: string | undefined): LiveHolder {
  const { namespace } = object.metadata
  return {
    kind: 'has',
    who: nameOf(object),
    ...(namespace !== undefined && { namespace }),
    how,
    ...(since !== undefined && { since }),
  }
}

function isOne(text: unknown, address: Address): boolean {
  const read = typeof text === 'string' ? parseAddress(text.split('/')[0] ?? '') : undefined
  return read !== undefined && compareAddresses(read, address) === 0
}

/** The address was given when the status was written; the Service itself may be older. */
function serviceHolder(service: KubeObject, address: Address): readonly LiveHolder[] {
  if (!ingressOf(service).some((one) => isOne(one, address))) return []
  const written = service.metadata.managedFields?.find(({ subresource }) => subresource === 'status')?.time
  const pool = service.metadata.annotations?.['metallb.io/ip-allocated-from-pool']
  const how = pool === undefined ? 'LoadBalancer address' : `LoadBalancer address from pool ${pool}`
  return [has(service, how, written ?? service.metadata.creationTimestamp)]
}

function podHolder(pool: KubeObject, address: Address, live: SnapshotIndex): readonly LiveHolder[] {
  const text = formatAddress(address)
  return podAddressesOf(pool)
    .filter((one) => one.address === text)
    .map(({ pod }) => {
      const [namespace = '', name = ''] = pod.split('/')
      const running = live.get('Pod', name, namespace)
      const since = textAt(running, 'status', 'startTime')
      const gone = running || live.unread('Pod') !== undefined ? '' : '; there is no such pod any more'
      return {
        kind: 'has',
        who: `Pod ${pod}`,
        namespace,
        how: `by whereabouts, ${identityOf(pool)}${gone}`,
        ...(since !== undefined && { since }),
      }
    })
}

/** What Multus shows, for pods whose address is not whereabouts' (static ones). */
function attachedHolder(pod: KubeObject, address: Address): readonly LiveHolder[] {
  const shown = pod.metadata.annotations?.['k8s.v1.cni.cncf.io/network-status'] ?? ''
  const networks = networkStatus(shown).filter((one) => listAt(one, 'ips').some((ip) => isOne(ip, address)))
  return networks.map((one) =>
    has(pod, `on ${textAt(one, 'name') ?? 'its own network'}`, textAt(pod, 'status', 'startTime')),
  )
}

function networkStatus(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

function reservationHolder(reservation: KubeObject, address: Address): readonly LiveHolder[] {
  const held = Object.entries((at(reservation, 'spec', 'reservation') ?? {}) as Record<string, unknown>)
  return held
    .filter(([, one]) => isOne(textAt(one, 'address'), address))
    .map(([network]) => has(reservation, `on ${network}`, reservation.metadata.creationTimestamp))
}

/** A node's address by what nmstate sees on it; by its own word where nmstate is not there. */
function nodeHolders(
  nodes: readonly KubeObject[],
  states: readonly KubeObject[],
  address: Address,
): readonly LiveHolder[] {
  const seen = states.flatMap((state) =>
    listAt(state, 'status', 'currentState', 'interfaces')
      .filter((one) =>
        ['ipv4', 'ipv6'].some((family) =>
          listAt(one, family, 'address').some((entry) => isOne(textAt(entry, 'ip'), address)),
        ),
      )
      .map((one) => ({
        kind: 'has' as const,
        who: `Node ${state.metadata.name}`,
        how: `on ${textAt(one, 'name') ?? 'an interface'}`,
      })),
  )
  const told = nodes
    .filter((node) =>
      listAt(node, 'status', 'addresses').some((one) => isOne(textAt(one, 'address'), address)),
    )
    .filter((node) => !seen.some(({ who }) => who === `Node ${node.metadata.name}`))
    .map((node) => has(node, "the node's own address", node.metadata.creationTimestamp))
  return [...seen, ...told]
}

function giver(
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
      who: nameOf(object),
      ...(namespace !== undefined && { namespace }),
      how: `${inside}, to ${to}`,
    },
  ]
}

function attachmentRanges(attachment: KubeObject): readonly string[] {
  try {
    const ipam = at(JSON.parse(textAt(attachment, 'spec', 'config') ?? '{}'), 'ipam')
    return [ipam, ...listAt(ipam, 'ipRanges')].flatMap((one) => {
      const [start, end] = [textAt(one, 'range_start'), textAt(one, 'range_end')]
      return start !== undefined && end !== undefined ? [`${start}-${end}`] : []
    })
  } catch {
    return []
  }
}

function netConfigGiver(config: KubeObject, address: Address): readonly LiveHolder[] {
  return listAt(config, 'spec', 'networks').flatMap((network) => {
    const ranges = listAt(network, 'subnets')
      .flatMap((subnet) => listAt(subnet, 'allocationRanges'))
      .map((range) => `${textAt(range, 'start')}-${textAt(range, 'end')}`)
    return giver(config, ranges, `hosts on ${textAt(network, 'name')}`, address)
  })
}

/** Where two have one address, or a namespace that is not the plan's has it. */
export function holderFindings(
  address: string,
  holders: readonly LiveHolder[],
  /** Namespaces that the plan gives the address to; none when it does not know it. */
  planned: readonly string[],
): readonly Finding[] {
  const having = holders.filter(({ kind }) => kind === 'has')
  const owners = new Map(having.map((one) => [oneOwner(one), one.who]))
  const twice =
    owners.size > 1
      ? [finding(heldTwice, { address, who: [...owners.values()] }, { owners: [...owners.values()] })]
      : []
  const allowed = new Set(planned)
  const strangers =
    planned.length === 0
      ? []
      : having.filter(({ namespace }) => namespace !== undefined && !allowed.has(namespace))
  const other = strangers.map(({ who }) =>
    finding(heldByOther, { address, who, planned: [...allowed].join(', ') }),
  )
  return [...twice, ...other]
}

/** Services of one namespace share an address on purpose; a pod is told by whereabouts and by Multus. */
function oneOwner({ who, namespace }: LiveHolder): string {
  return who.startsWith('Service ') ? `Services of ${namespace}` : who
}
