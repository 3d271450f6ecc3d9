/** Checks that each pod is attached to its requested networks with an address of its cloud. */

import { isRecord } from '../../api/json.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { attachedNetworks, NETWORK_STATUS, NETWORKS, requestedNetworks } from '../../api/pod-networks.ts'
import { getString } from '../../api/raw-object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import { attachedPodsAbsent, podAddressForeign, podWithoutNetwork } from '../findings/network-findings.ts'
import { type CloudCheck, formatCount, locateObject, POD } from './check-definition.ts'
import { findRange, formatSpans, spanRanges } from './planned-ranges.ts'

export const podNetworks: CloudCheck = {
  scope: 'cloud',
  id: 'pod-networks',
  title: 'Networks of pods',
  promise: 'every pod is attached to its requested networks, with an address of the pods span of this cloud',
  kinds: [POD],
  run: ({ cloud, live, desired }) => {
    const attached = live
      .all('Pod')
      .filter((pod) => isRunning(pod, cloud) && pod.metadata.annotations?.[NETWORKS] !== undefined)
    return {
      seen: `${formatCount(attached.length, 'pod')} with networks`,
      count: attached.length,
      findings: attached.length === 0 ? missingPods(cloud, desired) : attached.flatMap((pod) => checkPod(pod, cloud)),
    }
  },
}

/** If the control plane requests networks, some pods must have them. */
function missingPods({ name, namespace }: PlannedCloud, desired: readonly KubeObject[]): readonly Finding[] {
  const asked = new Set(
    desired
      .filter(({ kind }) => kind === 'OpenStackControlPlane')
      .flatMap((object) => findRequestedNetworks(object['spec'])),
  )
  if (asked.size === 0) return []
  return [finding(attachedPodsAbsent, { cloud: name, namespace, networks: [...asked].sort() })]
}

/** All networks that a control plane requests. */
function findRequestedNetworks(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(findRequestedNetworks)
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'networkAttachments' && Array.isArray(inner)) return inner.map(String)
    return key === 'networkAttachment' && typeof inner === 'string' ? [inner] : findRequestedNetworks(inner)
  })
}

function isRunning(pod: KubeObject, { namespace }: PlannedCloud): boolean {
  return pod.metadata.namespace === namespace && getString(pod, 'status', 'phase') === 'Running'
}

function checkPod(pod: KubeObject, cloud: PlannedCloud): readonly Finding[] {
  const attached = attachedNetworks(pod) ?? []
  const key = objectKey(pod.metadata)
  const where = locateObject(pod, `metadata.annotations["${NETWORK_STATUS}"]`)
  return requestedNetworks(pod).flatMap(({ namespace, name }) => {
    const attachment = attached.find((network) => network.name === `${namespace}/${name}`)
    if (!attachment) return [finding(podWithoutNetwork, { pod: key, network: name, why: 'absent' }, { where })]
    const network = cloud.networks.find(
      (network) => name === network.name || `${name}-`.startsWith(`${network.name}-static-`),
    )
    if (!network || spanRanges(network, 'pods').length === 0) return []
    return checkAddresses(key, network, attachment.ips).map((make) => make(where))
  })
}

type WithPlace = (where: ReturnType<typeof locateObject>) => Finding

function checkAddresses(pod: string, network: PlannedNetwork, addresses: readonly string[]): readonly WithPlace[] {
  if (addresses.length === 0)
    return [(where) => finding(podWithoutNetwork, { pod, network: network.name, why: 'no address' }, { where })]
  const spans = spanRanges(network, 'pods')
  const fixed = new Set(network.endpoints.map(({ address }) => address))
  return addresses
    .filter((address) => !fixed.has(address) && !findRange(spans, address))
    .map((address) => (where) => {
      const facts = { pod, network: network.name, address, planned: formatSpans(spans, 'pods') }
      return finding(podAddressForeign, facts, { where })
    })
}
