/** Pods: each is on every network that it asks for, with an address of its cloud. */
import { type KubeObject, keyOf } from '../../api/object.ts'
import { listAt, textAt } from '../../api/raw-object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { attachedPodsAbsent, podAddressForeign, podWithoutNetwork } from '../../errors/verify-networks.ts'
import type { PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import { isRecord } from '../../yaml/loose.ts'
import { type CloudCheck, counted, placeOf } from './check.ts'
import { POD } from './kinds.ts'
import { holderOf, spansOf, spanWords } from './spans.ts'

const WANTED = 'k8s.v1.cni.cncf.io/networks'
const STATUS = 'k8s.v1.cni.cncf.io/network-status'

export const podNetworks: CloudCheck = {
  scope: 'cloud',
  id: 'pod-networks',
  title: 'Networks of pods',
  promise: 'every pod shows each network that it asks for, with an address of the pods span of this cloud',
  kinds: [POD],
  look: ({ cloud, live, desired }) => {
    const attached = live.all('Pod').filter((pod) => isRunning(pod, cloud) && WANTED in annotationsOf(pod))
    return {
      seen: `${counted(attached.length, 'pod')} with networks`,
      count: attached.length,
      findings: attached.length === 0 ? absent(cloud, desired) : attached.flatMap((pod) => judge(pod, cloud)),
    }
  },
}

/** None at all, although the control plane asks for networks: its pods do not run, or have lost what they ask for. */
function absent({ name, namespace }: PlannedCloud, desired: readonly KubeObject[]): readonly Finding[] {
  const asked = new Set(
    desired.filter(({ kind }) => kind === 'OpenStackControlPlane').flatMap((one) => askedIn(one['spec'])),
  )
  if (asked.size === 0) return []
  return [finding(attachedPodsAbsent, { cloud: name, namespace, networks: [...asked].sort() })]
}

/** The networks that a control plane asks for, wherever it does. */
function askedIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(askedIn)
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'networkAttachments' && Array.isArray(inner)) return inner.map(String)
    return key === 'networkAttachment' && typeof inner === 'string' ? [inner] : askedIn(inner)
  })
}

function isRunning(pod: KubeObject, { namespace }: PlannedCloud): boolean {
  return pod.metadata.namespace === namespace && textAt(pod, 'status', 'phase') === 'Running'
}

function annotationsOf({ metadata }: KubeObject): Readonly<Record<string, string>> {
  return metadata.annotations ?? {}
}

function judge(pod: KubeObject, cloud: PlannedCloud): readonly Finding[] {
  const shown = statusOf(pod)
  const key = keyOf(pod.metadata)
  const where = placeOf(pod, `metadata.annotations["${STATUS}"]`)
  return wantedNetworks(pod, cloud.namespace).flatMap((wanted) => {
    const attachment = shown.get(wanted)
    const name = wanted.split('/')[1] ?? wanted
    if (!attachment)
      return [finding(podWithoutNetwork, { pod: key, network: name, why: 'absent' }, { where })]
    const network = cloud.networks.find((one) => one.name === name || `${one.name}-static` === name)
    if (!network || spansOf(network, 'pods').length === 0) return []
    return judgeAddresses(key, network, attachment).map((make) => make(where))
  })
}

type WithPlace = (where: ReturnType<typeof placeOf>) => Finding

function judgeAddresses(
  pod: string,
  network: PlannedNetwork,
  addresses: readonly string[],
): readonly WithPlace[] {
  if (addresses.length === 0)
    return [
      (where) => finding(podWithoutNetwork, { pod, network: network.name, why: 'no address' }, { where }),
    ]
  const spans = spansOf(network, 'pods')
  const fixed = new Set(network.endpoints.map(({ address }) => address))
  return addresses
    .filter((address) => !fixed.has(address) && !holderOf(spans, address))
    .map((address) => (where) => {
      const facts = { pod, network: network.name, address, planned: spanWords(spans, 'pods') }
      return finding(podAddressForeign, facts, { where })
    })
}

/** `namespace/name` of each; Multus takes a JSON list and the short form `ns/name@interface, …`. */
function wantedNetworks(pod: KubeObject, namespace: string): readonly string[] {
  const text = annotationsOf(pod)[WANTED] ?? ''
  const long = listFrom(text)
  if (long)
    return long.flatMap((one) => {
      const name = textAt(one, 'name')
      return name === undefined ? [] : [`${textAt(one, 'namespace') ?? namespace}/${name}`]
    })
  return text
    .split(',')
    .map((word) => word.trim().split('@')[0] ?? '')
    .filter((word) => word !== '')
    .map((word) => (word.includes('/') ? word : `${namespace}/${word}`))
}

/** Addresses by `namespace/name`, as Multus wrote them. */
function statusOf(pod: KubeObject): ReadonlyMap<string, readonly string[]> {
  const shown = listFrom(annotationsOf(pod)[STATUS] ?? '') ?? []
  return new Map(shown.map((one) => [textAt(one, 'name') ?? '', listAt(one, 'ips').map(String)]))
}

function listFrom(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
