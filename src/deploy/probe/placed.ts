/** Where the probes have come to stand: which run with an address on their network, and why others do not. Pure. */
import type { KubeObject } from '../../api/object.ts'
import { listAt, textAt } from '../../api/raw-object.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Unprobed } from '../../verify/probe/judge.ts'
import { type ProbePod, placeOfPod } from '../../verify/probe/tasks.ts'

const STATUS = 'k8s.v1.cni.cncf.io/network-status'

export type Probe = ProbePod

export interface Placed {
  readonly pods: readonly Probe[]
  readonly missing: readonly Unprobed[]
}

export function placeProbes(plan: Plan, wanted: readonly KubeObject[], live: readonly KubeObject[]): Placed {
  const byName = new Map(live.map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]))
  const pods: Probe[] = []
  const missing: Unprobed[] = []
  for (const pod of wanted.filter(({ kind }) => kind === 'Pod')) {
    const { name, namespace = '', labels = {} } = pod.metadata
    const cloud = plan.clouds.find((one) => one.namespace === namespace)?.name ?? ''
    const network = labels['stackloom.dev/network'] ?? ''
    const node = textAt(pod, 'spec', 'nodeSelector', 'kubernetes.io/hostname') ?? ''
    const found = byName.get(`${namespace}/${name}`)
    const addresses = found ? addressesOn(found, `${namespace}/${network}`) : []
    const place: Probe = { cloud, network, node, namespace, name, addresses }
    const isRunning = textAt(found, 'status', 'phase') === 'Running'
    if (isRunning && addresses.length > 0) pods.push(place)
    else missing.push({ cloud, from: placeOfPod(place), reason: reasonFor(found) })
  }
  return { pods, missing }
}

function addressesOn(pod: KubeObject, attachment: string): readonly string[] {
  try {
    const shown = JSON.parse(pod.metadata.annotations?.[STATUS] ?? '[]') as unknown
    const own = (Array.isArray(shown) ? shown : []).find((one) => textAt(one, 'name') === attachment)
    return listAt(own, 'ips').map(String)
  } catch {
    return []
  }
}

function reasonFor(pod: KubeObject | undefined): string {
  if (!pod) return 'there is no such pod'
  const phase = textAt(pod, 'status', 'phase') ?? 'Pending'
  const waiting = listAt(pod, 'status', 'containerStatuses')
    .map((one) => textAt(one, 'state', 'waiting', 'message') ?? textAt(one, 'state', 'waiting', 'reason'))
    .find((words) => words !== undefined)
  const condition = listAt(pod, 'status', 'conditions').find((one) => textAt(one, 'status') === 'False')
  const words = waiting ?? textAt(condition, 'message')
  if (phase === 'Running') return 'it has no address on its network'
  return `the pod is ${phase}${words === undefined ? '' : `: ${words}`}`
}
