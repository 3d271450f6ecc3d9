/** Problems of network attachments and pod addresses. */

import type { AddressFault } from '../../addresses/audit-addresses.ts'
import { groupBy } from '../../api/collections.ts'
import { attachedNetworks, requestedNetworks } from '../../api/pod-networks.ts'
import { getField, getString } from '../../api/raw-object.ts'
import { parseAddress } from '../../net/address.ts'
import { cidrRange, parseCidr } from '../../net/cidr.ts'
import { rangeCovers } from '../../net/range.ts'
import { setContains, setSize } from '../../net/range-set.ts'
import { readAttachment } from '../../site/import/attachment.ts'
import type { ClusterState } from '../cluster-state.ts'
import { auditCluster, OVERLAP } from '../facts/address-audit.ts'
import { attachments, IP_POOL, isPoolOf, NAD, podAddresses, podSpans } from '../facts/attachments.ts'
import { closestNetwork } from '../facts/cloud-pools.ts'
import { knownInterfaces, POLICY, STATE } from '../facts/interfaces.ts'
import { formatEvidence } from '../facts/load-balancers.ts'
import * as problems from '../findings/multus-findings.ts'
import { links, type Rule, rule } from '../rule.ts'

const attachmentUnreadable = rule({
  id: 'multus/unreadable-attachment',
  problem: problems.attachmentUnreadable,
  looksAt: [NAD],
  match: (cluster) =>
    cluster.all(NAD).flatMap((about) => {
      const read = readAttachment(getField(about, 'spec', 'config'))
      return typeof read === 'string' ? [{ about, path: 'spec.config', facts: { reason: read } }] : []
    }),
})

const masterMissing = rule({
  id: 'multus/master-nowhere',
  problem: problems.masterMissing,
  looksAt: [NAD],
  also: ['Node', POLICY, STATE],
  likelihood: 'likely',
  match: (cluster) => {
    const known = cluster.derive(knownInterfaces)
    return cluster.derive(attachments).flatMap(({ object, read, namespace }) => {
      // Attachments outside the clouds may use interfaces that nmstate does not manage.
      const { master } = read
      if (master === undefined || !known.isMissing(master) || !cluster.clouds.has(namespace)) return []
      const facts = { master, known: known.closest(master) }
      return [{ about: object, path: 'spec.config', facts, dependsOn: cluster.all(POLICY) }]
    })
  },
})

const attachmentMissing = rule({
  id: 'multus/attachment-missing',
  problem: problems.attachmentMissing,
  looksAt: ['Pod', NAD],
  match: (cluster) => {
    if (!cluster.knows(NAD)) return []
    return cluster.all('Pod').flatMap((pod) =>
      requestedNetworks(pod)
        .filter(({ namespace, name }) => !cluster.get(NAD, name, namespace))
        .map(({ namespace, name }) => {
          const names = cluster.inNamespace(NAD, namespace).map(({ metadata }) => metadata.name)
          const facts = { pod: pod.metadata.name, network: name, namespace, known: closestNetwork(name, names) }
          return { about: pod, facts, evidence: podSandboxEvents(cluster, pod) }
        }),
    )
  },
})

function podSandboxEvents(cluster: ClusterState, pod: Parameters<ClusterState['eventsFor']>[0]): readonly string[] {
  return formatEvidence(cluster.eventsFor(pod).find(({ reason }) => reason === 'FailedCreatePodSandBox'))
}

const notAttached = rule({
  id: 'multus/not-attached',
  problem: problems.notAttached,
  looksAt: ['Pod'],
  also: [NAD],
  likelihood: 'likely',
  match: (cluster) =>
    cluster.all('Pod').flatMap((pod) => {
      if (getString(pod, 'status', 'phase') !== 'Running') return []
      const attached = new Set(attachedNetworks(pod)?.map(({ name }) => name))
      return requestedNetworks(pod)
        .filter(({ namespace, name }) => cluster.get(NAD, name, namespace) && !attached.has(`${namespace}/${name}`))
        .map(({ name }) => ({
          about: pod,
          facts: { pod: `${pod.metadata.namespace}/${pod.metadata.name}`, network: name },
        }))
    }),
})

const podsExhausted = rule({
  id: 'multus/pods-exhausted',
  problem: problems.podsExhausted,
  looksAt: [NAD, IP_POOL],
  also: ['Event', 'Pod'],
  link: links.whereabouts,
  match: (cluster) => {
    const byPool = groupBy(cluster.derive(podAddresses), ({ pool }) => pool)
    return cluster.derive(podSpans).flatMap((span) => {
      const held = [...byPool].filter(([pool]) => isPoolOf(pool, span)).flatMap(([, all]) => all)
      const inside = held.filter(({ address }) => {
        const parsed = parseAddress(address)
        return parsed !== undefined && setContains(span.open, parsed)
      })
      if (inside.length === 0 || BigInt(inside.length) < setSize(span.open)) return []
      const waiting = cluster
        .inNamespace('Pod', span.namespace)
        .filter((pod) => podSandboxEvents(cluster, pod).some((text) => /allocate IP/i.test(text)))
      return [
        {
          about: span.object,
          facts: { network: span.name, span: span.span, used: inside.length },
          evidence: waiting.flatMap((pod) => podSandboxEvents(cluster, pod)),
        },
      ]
    })
  },
})

/** Faults of one kind, by the object that they are about. */
function addressFaults(cluster: ClusterState, kind: AddressFault['kind']): readonly (readonly AddressFault[])[] {
  const faults = cluster.derive(auditCluster).faults.filter((fault) => fault.kind === kind)
  return [...groupBy(faults, ({ object }) => object).values()]
}

const leakedAddresses = rule({
  id: 'multus/leaked-addresses',
  problem: problems.leakedAddresses,
  looksAt: [IP_POOL, 'Pod'],
  likelihood: 'likely',
  link: links.whereabouts,
  match: (cluster) =>
    addressFaults(cluster, 'leaked').flatMap((faults) => {
      const [first] = faults
      if (!first) return []
      const facts = { count: faults.length, first: first.address, pod: first.owner.replace(/^Pod /, '') }
      return [{ about: first.object, facts }]
    }),
})

/** One finding for all: each is an object of its own, and whereabouts may have thousands. */
const leakedOverlaps = rule({
  id: 'multus/leaked-overlaps',
  problem: problems.leakedOverlaps,
  looksAt: [OVERLAP, 'Pod'],
  likelihood: 'likely',
  link: links.whereabouts,
  match: (cluster) => {
    const faults = addressFaults(cluster, 'leaked-overlap').flat()
    const [first] = faults
    if (!first) return []
    const facts = { count: faults.length, first: first.address, pod: first.owner.replace(/^Pod /, '') }
    // An entry of an IPPool for the same pod is the cause, and freeing it frees both.
    const pools = addressFaults(cluster, 'leaked').flatMap(([fault]) => fault?.object ?? [])
    return [{ about: first.object, facts, dependsOn: pools }]
  },
})

const addressUnreserved = rule({
  id: 'multus/address-unreserved',
  problem: problems.addressUnreserved,
  looksAt: [IP_POOL, 'Pod', NAD],
  link: links.whereabouts,
  match: (cluster) =>
    addressFaults(cluster, 'unreserved')
      .flat()
      .map(({ object, address, network = '', owner }) => ({
        about: object,
        facts: {
          address,
          network,
          pool: owner.split(' ').at(-1) ?? '',
          pod: `${object.metadata.namespace}/${object.metadata.name}`,
        },
      })),
})

const rangeShared = rule({
  id: 'multus/range-shared',
  problem: problems.rangeShared,
  looksAt: [NAD],
  link: links.whereabouts,
  match: (cluster) => {
    const unnamed = cluster.derive(podSpans).filter(({ networkName }) => networkName === undefined)
    return [...groupBy(unnamed, ({ cidr }) => cidr)].flatMap(([range, all]) => {
      const [first] = all
      const others = all.filter(({ namespace }) => namespace !== first?.namespace)
      if (!first || others.length === 0) return []
      return [{ about: first.object, path: 'spec.config', facts: { range, others: others.map(({ name }) => name) } }]
    })
  },
})

const rangeIgnored = rule({
  id: 'multus/span-ignored',
  problem: problems.rangeIgnored,
  looksAt: [NAD],
  link: links.whereabouts,
  match: (cluster) =>
    cluster.derive(podSpans).flatMap(({ object, cidr, span, range }) => {
      const network = parseCidr(cidr)
      if (!network || rangeCovers(cidrRange(network), range)) return []
      return [{ about: object, path: 'spec.config', facts: { span, range: cidr } }]
    }),
})

export const multusRules: readonly Rule[] = [
  attachmentUnreadable,
  rangeIgnored,
  masterMissing,
  attachmentMissing,
  podsExhausted,
  notAttached,
  rangeShared,
  leakedAddresses,
  leakedOverlaps,
  addressUnreserved,
]
