/** Problems with the addresses of data plane hosts: NetConfigs, IPSets and Reservations. */

import { reservationOwner } from '../../addresses/audit-addresses.ts'
import type { CloudSubnet } from '../../addresses/host-subnets.ts'
import { groupBy } from '../../api/collections.ts'
import type { KubeObject } from '../../api/object.ts'
import { ageMs, findCondition, getConditions, getField, getList, getString } from '../../api/raw-object.ts'
import { parseAddress } from '../../net/address.ts'
import { cidrContains } from '../../net/cidr.ts'
import { rangeContains } from '../../net/range.ts'
import { rangeSet, setSize, subtract } from '../../net/range-set.ts'
import type { ClusterState } from '../cluster-state.ts'
import { auditCluster } from '../facts/address-audit.ts'
import { closestNetwork } from '../facts/cloud-pools.ts'
import { cloudSubnets, NET_CONFIG, RESERVATION, reservations } from '../facts/host-networks.ts'
import * as problems from '../findings/ipam-findings.ts'
import { matchDuplicates, type Rule, rule } from '../rule.ts'

const IP_SET = 'network.openstack.org/IPSet'

const netConfigMissing = rule({
  id: 'ipam/netconfig-missing',
  problem: problems.netConfigMissing,
  looksAt: [IP_SET, NET_CONFIG],
  match: (cluster) => {
    if (!cluster.knows(NET_CONFIG)) return []
    return [...groupBy(cluster.all(IP_SET), ({ metadata }) => metadata.namespace ?? '')].flatMap(([namespace, all]) => {
      const [about] = all
      if (!about || cluster.inNamespace(NET_CONFIG, namespace).length > 0) return []
      return [{ about, facts: { namespace, count: all.length } }]
    })
  },
})

const netConfigDeletionBlocked = rule({
  id: 'ipam/netconfig-deletion-blocked',
  problem: problems.netConfigDeletionBlocked,
  looksAt: [NET_CONFIG, IP_SET],
  match: (cluster) =>
    cluster.all(NET_CONFIG).flatMap((about) => {
      const { deletionTimestamp, namespace = '' } = about.metadata
      const [first, ...more] = cluster.inNamespace(IP_SET, namespace)
      if (deletionTimestamp === undefined || !first) return []
      return [{ about, facts: { count: more.length + 1, first: first.metadata.name, namespace } }]
    }),
})

const twoNetConfigs = rule({
  id: 'ipam/two-netconfigs',
  problem: problems.twoNetConfigs,
  looksAt: [NET_CONFIG],
  match: (cluster) => matchDuplicates(cluster, NET_CONFIG),
})

const networkUnknown = rule({
  id: 'ipam/network-unknown',
  problem: problems.ipSetNetworkUnknown,
  looksAt: [IP_SET, NET_CONFIG],
  match: (cluster) =>
    cluster.all(IP_SET).flatMap((about) => {
      const { namespace = '' } = about.metadata
      if (cluster.inNamespace(NET_CONFIG, namespace).length === 0) return []
      const subnets = cluster.derive(cloudSubnets).filter((cloudSubnet) => cloudSubnet.namespace === namespace)
      // The operator compares names case-insensitively.
      const names = new Set(subnets.map((cloudSubnet) => `${cloudSubnet.network}/${cloudSubnet.subnet}`.toLowerCase()))
      return getList(about, 'spec', 'networks').flatMap((request) => {
        const network = getString(request, 'name') ?? ''
        const subnet = getString(request, 'subnetName') ?? ''
        if (names.has(`${network}/${subnet}`.toLowerCase())) return []
        return [
          { about, path: 'spec.networks', facts: { network, subnet, known: closestSubnet(network, subnet, subnets) } },
        ]
      })
    }),
})

/** Network and subnet are compared separately: a long name of a subnet does not make two networks similar. */
function closestSubnet(network: string, subnet: string, known: readonly CloudSubnet[]): string | undefined {
  const meant = closestNetwork(
    network,
    known.map((cloudSubnet) => cloudSubnet.network),
  )
  const ofNetwork = known
    .filter((cloudSubnet) => cloudSubnet.network === meant)
    .map((cloudSubnet) => cloudSubnet.subnet)
  const name = closestNetwork(subnet, ofNetwork)
  return name === undefined ? undefined : `${meant}/${name}`
}

/** IPSets that wait for addresses, and why. */
function waitingIpSets(cluster: ClusterState): readonly { readonly object: KubeObject; readonly cause: string }[] {
  return cluster.all(IP_SET).flatMap((object) => {
    if (object.metadata.deletionTimestamp !== undefined || findCondition(object, 'Ready')?.status === 'True') return []
    const open = getConditions(object).find(({ type, status }) => type !== 'Ready' && status === 'False')
    const young = ageMs(open?.lastTransitionTime, cluster.now) < cluster.context.grace.allocationMs
    if (!open || young) return []
    return [{ object, cause: open.message || open.reason || open.type }]
  })
}

const hostsExhausted = rule({
  id: 'ipam/hosts-exhausted',
  problem: problems.hostsExhausted,
  looksAt: [NET_CONFIG, IP_SET, RESERVATION],
  match: (cluster) => {
    const asking = cluster.derive(waitingIpSets)
    if (asking.length === 0) return []
    return cluster.derive(cloudSubnets).flatMap((subnet) => {
      const waiters = asking.filter(({ object }) => requestsSubnet(object, subnet))
      const free = countFree(subnet, cluster)
      if (waiters.length === 0 || free.size > 0n) return []
      const { network, subnet: name, config } = subnet
      const names = waiters.map(({ object }) => object.metadata.name)
      return [{ about: config, facts: { network, subnet: name, used: free.used, waiting: names } }]
    })
  },
})

function requestsSubnet({ metadata, ...ipSet }: KubeObject, { namespace, network, subnet }: CloudSubnet): boolean {
  return (
    metadata.namespace === namespace &&
    getList(ipSet, 'spec', 'networks').some(
      (request) =>
        getString(request, 'name')?.toLowerCase() === network.toLowerCase() &&
        getString(request, 'subnetName')?.toLowerCase() === subnet.toLowerCase(),
    )
  )
}

function countFree(
  { namespace, hosts, reserved }: CloudSubnet,
  cluster: ClusterState,
): { readonly size: bigint; readonly used: number } {
  const open = subtract(rangeSet(hosts), rangeSet(reserved))
  const held = cluster.derive(reservations).flatMap(({ address, cloud }) => {
    const parsed = cloud === namespace ? parseAddress(address) : undefined
    return parsed && open.some((range) => rangeContains(range, parsed))
      ? [{ family: parsed.family, first: parsed.value, last: parsed.value }]
      : []
  })
  return { size: setSize(subtract(open, rangeSet(held))), used: held.length }
}

const ipSetWaiting = rule({
  id: 'ipam/ipset-waiting',
  problem: problems.ipSetWaiting,
  looksAt: [IP_SET],
  also: [NET_CONFIG],
  match: (cluster) =>
    cluster
      .derive(waitingIpSets)
      .map(({ object, cause }) => ({
        object,
        cause,
        configs: cluster.inNamespace(NET_CONFIG, object.metadata.namespace ?? ''),
      }))
      // A missing NetConfig is reported once by another rule.
      .filter(({ configs }) => configs.length > 0 || !cluster.knows(NET_CONFIG))
      .map(({ object, cause, configs }) => ({ about: object, facts: { cause }, dependsOn: configs })),
})

const reservationOutside = rule({
  id: 'ipam/reservation-outside',
  problem: problems.reservationOutside,
  looksAt: [RESERVATION, NET_CONFIG],
  match: (cluster) =>
    cluster.derive(reservations).flatMap(({ address, object, cloud, network, subnet }) => {
      const parsed = parseAddress(address)
      const reserved = cluster
        .derive(cloudSubnets)
        .find(
          (cloudSubnet) =>
            cloudSubnet.namespace === cloud &&
            cloudSubnet.network.toLowerCase() === network.toLowerCase() &&
            cloudSubnet.subnet.toLowerCase() === subnet.toLowerCase(),
        )
      if (!reserved) return []
      const gateway = reserved.gateway === undefined ? undefined : parseAddress(reserved.gateway)
      const why =
        parsed === undefined
          ? 'is not an address'
          : !cidrContains(reserved.cidr, parsed)
            ? `is not in ${reserved.text}`
            : gateway?.value === parsed.value
              ? 'is the gateway'
              : undefined
      return why === undefined ? [] : [{ about: object, facts: { address, network, why } }]
    }),
})

const reservationOrphaned = rule({
  id: 'ipam/reservation-orphaned',
  problem: problems.reservationOrphaned,
  looksAt: [RESERVATION, IP_SET],
  likelihood: 'likely',
  match: (cluster) => {
    const faults = cluster.derive(auditCluster).faults.filter(({ kind }) => kind === 'orphaned')
    return [...groupBy(faults, ({ object }) => object)].map(([about, held]) => ({
      about,
      facts: { ipSet: reservationOwner(about), count: held.length },
    }))
  },
})

const DEPLOYMENT = 'apps/Deployment'

/** Stackloom's operator does not start beside infra-operator, but that may be started later. */
const twoAllocators = rule({
  id: 'ipam/two-allocators',
  problem: problems.twoAllocators,
  looksAt: [DEPLOYMENT],
  match: (cluster) => {
    const running = cluster.all(DEPLOYMENT).filter((deployment) => getField(deployment, 'spec', 'replicas') !== 0)
    const ours = running.find(
      (deployment) =>
        deployment.metadata.labels?.['app.kubernetes.io/name'] === 'stackloom-operator' && !isObserver(deployment),
    )
    if (!ours) return []
    return running
      .filter(({ metadata }) => metadata.name === 'infra-operator-controller-manager')
      .map((about) => {
        const { namespace = '', name } = about.metadata
        return { about, facts: { ours: `${ours.metadata.namespace}/${ours.metadata.name}`, namespace, name } }
      })
  },
})

/** An operator that only observes assigns nothing. */
function isObserver(deployment: KubeObject): boolean {
  return getList(deployment, 'spec', 'template', 'spec', 'containers').some((container) =>
    getList(container, 'args').includes('--observe'),
  )
}

export const ipamRules: readonly Rule[] = [
  twoAllocators,
  netConfigMissing,
  netConfigDeletionBlocked,
  twoNetConfigs,
  networkUnknown,
  hostsExhausted,
  reservationOutside,
  ipSetWaiting,
  reservationOrphaned,
]
