/** Where the probes have come to stand: which run with an address on their network, and why others do not. Pure. */
import type { KubeObject } from '../../api/object.ts'
import { getList, getString } from '../../api/raw-object.ts'
import type { Plan } from '../../plan/plan.ts'
import type { FailedProbe } from '../../verify/probe/probe-results.ts'
import { formatPodLocation, type ProbePod } from '../../verify/probe/probe-tasks.ts'

const STATUS = 'k8s.v1.cni.cncf.io/network-status'

export type Probe = ProbePod

export interface PlacedProbes {
  readonly pods: readonly Probe[]
  readonly missing: readonly FailedProbe[]
}

export function placeProbes(plan: Plan, wanted: readonly KubeObject[], live: readonly KubeObject[]): PlacedProbes {
  const byName = new Map(live.map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]))
  const pods: Probe[] = []
  const missing: FailedProbe[] = []
  for (const pod of wanted.filter(({ kind }) => kind === 'Pod')) {
    const { name, namespace = '', labels = {} } = pod.metadata
    const cloud = plan.clouds.find((cloud) => cloud.namespace === namespace)?.name ?? ''
    const network = labels['stackloom.dev/network'] ?? ''
    const node = getString(pod, 'spec', 'nodeSelector', 'kubernetes.io/hostname') ?? ''
    const found = byName.get(`${namespace}/${name}`)
    const addresses = found ? addressesOn(found, `${namespace}/${network}`) : []
    const place: Probe = { cloud, network, node, namespace, name, addresses }
    const isRunning = getString(found, 'status', 'phase') === 'Running'
    if (isRunning && addresses.length > 0) pods.push(place)
    else missing.push({ cloud, from: formatPodLocation(place), reason: pendingReason(found) })
  }
  return { pods, missing }
}

function addressesOn(pod: KubeObject, attachment: string): readonly string[] {
  try {
    const shown = JSON.parse(pod.metadata.annotations?.[STATUS] ?? '[]') as unknown
    const own = (Array.isArray(shown) ? shown : []).find((one) => getString(one, 'name') === attachment)
    return getList(own, 'ips').map(String)
  } catch {
    return []
  }
}

function pendingReason(pod: KubeObject | undefined): string {
  if (!pod) return 'there is no such pod'
  const phase = getString(pod, 'status', 'phase') ?? 'Pending'
  const waiting = getList(pod, 'status', 'containerStatuses')
    .map((one) => getString(one, 'state', 'waiting', 'message') ?? getString(one, 'state', 'waiting', 'reason'))
    .find((words) => words !== undefined)
  const condition = getList(pod, 'status', 'conditions').find((one) => getString(one, 'status') === 'False')
  const words = waiting ?? getString(condition, 'message')
  if (phase === 'Running') return 'it has no address on its network'
  return `the pod is ${phase}${words === undefined ? '' : `: ${words}`}`
}
