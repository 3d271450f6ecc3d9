/** Addresses of the data plane: what hosts ask for, what they got, what is left. */

import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { ageMs, findCondition, getConditions, getField, getList, getString } from '../../api/raw-object.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { parseAddress } from '../../net/address.ts'
import { cidrContains } from '../../net/cidr.ts'
import { rangeContains } from '../../net/range.ts'
import { rangeSet, setSize, subtract } from '../../net/range-set.ts'
import { groupBy } from '../../plan/collections.ts'
import type { ClusterState } from '../cluster-state.ts'
import { type CloudSubnet, cloudSubnets, NET_CONFIG, RESERVATION, reservations } from '../facts/host-networks.ts'
import * as problems from '../findings/ipam-findings.ts'
import { links, type Rule, rule } from '../rule.ts'

const IP_SET = 'network.openstack.org/IPSet'

const netConfigMissing = rule({
  id: 'ipam/netconfig-missing',
  problem: problems.netConfigMissing,
  looksAt: [IP_SET, NET_CONFIG],
  likelihood: 'proven',
  link: links.infra,
  match: (patient) => {
    if (!patient.knows(NET_CONFIG)) return []
    return [...groupBy(patient.all(IP_SET), ({ metadata }) => metadata.namespace ?? '')].flatMap(([namespace, all]) => {
      const [about] = all
      if (!about || patient.inNamespace(NET_CONFIG, namespace).length > 0) return []
      return [{ about, facts: { namespace, count: all.length } }]
    })
  },
})

const netConfigDeletionBlocked = rule({
  id: 'ipam/netconfig-deletion-blocked',
  problem: problems.netConfigDeletionBlocked,
  looksAt: [NET_CONFIG, IP_SET],
  likelihood: 'proven',
  link: links.infra,
  match: (patient) =>
    patient.all(NET_CONFIG).flatMap((about) => {
      const { deletionTimestamp, namespace = '' } = about.metadata
      const [first, ...more] = patient.inNamespace(IP_SET, namespace)
      if (deletionTimestamp === undefined || !first) return []
      return [{ about, facts: { count: more.length + 1, first: first.metadata.name, namespace } }]
    }),
})

const twoNetConfigs = rule({
  id: 'ipam/two-netconfigs',
  problem: problems.twoNetConfigs,
  looksAt: [NET_CONFIG],
  likelihood: 'proven',
  link: links.infra,
  match: (patient) =>
    [...groupBy(patient.all(NET_CONFIG), ({ metadata }) => metadata.namespace ?? '')].flatMap(([namespace, all]) => {
      const about = all[1]
      if (!about) return []
      return [{ about, facts: { namespace, names: all.map(({ metadata }) => metadata.name) } }]
    }),
})

const networkUnknown = rule({
  id: 'ipam/network-unknown',
  problem: problems.ipSetNetworkUnknown,
  looksAt: [IP_SET, NET_CONFIG],
  likelihood: 'proven',
  link: links.infra,
  match: (patient) =>
    patient.all(IP_SET).flatMap((about) => {
      const { namespace = '' } = about.metadata
      if (patient.inNamespace(NET_CONFIG, namespace).length === 0) return []
      const names = patient
        .derive(cloudSubnets)
        .filter((cloudSubnet) => cloudSubnet.namespace === namespace)
        .map((cloudSubnet) => `${cloudSubnet.network}/${cloudSubnet.subnet}`)
      // Names are compared without regard to case, as the operator does.
      const known = new Set(names.map((name) => name.toLowerCase()))
      return getList(about, 'spec', 'networks').flatMap((wanted) => {
        const network = getString(wanted, 'name') ?? ''
        const subnet = getString(wanted, 'subnetName') ?? ''
        if (known.has(`${network}/${subnet}`.toLowerCase())) return []
        const facts = { network, subnet, known: closestMatch(`${network}/${subnet}`, names) }
        return [{ about, path: 'spec.networks', facts }]
      })
    }),
})

/** IPSets that say that they wait, and for what. */
function waitingIpSets(patient: ClusterState): readonly { readonly object: KubeObject; readonly cause: string }[] {
  return patient.all(IP_SET).flatMap((object) => {
    if (object.metadata.deletionTimestamp !== undefined || findCondition(object, 'Ready')?.status === 'True') return []
    const open = getConditions(object).find(({ type, status }) => type !== 'Ready' && status === 'False')
    const young = ageMs(open?.lastTransitionTime, patient.now) < patient.context.grace.allocationMs
    if (!open || young) return []
    return [{ object, cause: open.message || open.reason || open.type }]
  })
}

const hostsExhausted = rule({
  id: 'ipam/hosts-exhausted',
  problem: problems.hostsExhausted,
  looksAt: [NET_CONFIG, IP_SET, RESERVATION],
  likelihood: 'proven',
  link: links.infra,
  match: (patient) => {
    const asking = patient.derive(waitingIpSets)
    if (asking.length === 0) return []
    return patient.derive(cloudSubnets).flatMap((subnet) => {
      const waiters = asking.filter(({ object }) => requestsSubnet(object, subnet))
      const free = countFree(subnet, patient)
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
      (one) =>
        getString(one, 'name')?.toLowerCase() === network.toLowerCase() &&
        getString(one, 'subnetName')?.toLowerCase() === subnet.toLowerCase(),
    )
  )
}

function countFree(
  { namespace, hosts, reserved }: CloudSubnet,
  patient: ClusterState,
): { readonly size: bigint; readonly used: number } {
  const open = subtract(rangeSet(hosts), rangeSet(reserved))
  const held = patient.derive(reservations).flatMap(({ address, cloud }) => {
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
  likelihood: 'proven',
  link: links.infra,
  match: (patient) =>
    patient
      .derive(waitingIpSets)
      .map(({ object, cause }) => ({
        object,
        cause,
        configs: patient.inNamespace(NET_CONFIG, object.metadata.namespace ?? ''),
      }))
      // Where there is no NetConfig, another rule tells it once for all of them.
      .filter(({ configs }) => configs.length > 0 || !patient.knows(NET_CONFIG))
      .map(({ object, cause, configs }) => ({ about: object, facts: { cause }, dependsOn: configs })),
})

const reservationOutside = rule({
  id: 'ipam/reservation-outside',
  problem: problems.reservationOutside,
  looksAt: [RESERVATION, NET_CONFIG],
  likelihood: 'proven',
  link: links.infra,
  match: (patient) =>
    patient.derive(reservations).flatMap(({ address, object, cloud, network, subnet }) => {
      const parsed = parseAddress(address)
      const own = patient
        .derive(cloudSubnets)
        .find(
          (cloudSubnet) =>
            cloudSubnet.namespace === cloud &&
            cloudSubnet.network.toLowerCase() === network.toLowerCase() &&
            cloudSubnet.subnet.toLowerCase() === subnet.toLowerCase(),
        )
      if (!own) return []
      const gateway = own.gateway === undefined ? undefined : parseAddress(own.gateway)
      const why =
        parsed === undefined
          ? 'is not an address'
          : !cidrContains(own.cidr, parsed)
            ? `is not in ${own.text}`
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
  link: links.infra,
  match: (patient) => {
    if (!patient.knows(IP_SET)) return []
    return patient.all(RESERVATION).flatMap((about) => {
      const { namespace = '', name } = about.metadata
      const ipSet = getString(about, 'spec', 'ipSetRef', 'name') ?? name
      if (patient.get(IP_SET, ipSet, namespace)) return []
      const count = Object.keys(asRecord(getField(about, 'spec', 'reservation'))).length
      return [{ about, facts: { ipSet, count } }]
    })
  },
})

export const ipamRules: readonly Rule[] = [
  netConfigMissing,
  netConfigDeletionBlocked,
  twoNetConfigs,
  networkUnknown,
  hostsExhausted,
  reservationOutside,
  ipSetWaiting,
  reservationOrphaned,
]
