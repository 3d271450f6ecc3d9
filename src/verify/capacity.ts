/**
 * Room: what the site's clouds need, against what the cluster has. Before a deployment, and as a check of `verify`.
 *
 * Pure. Figures of use are measurements of one highly available control plane while idle: they warn, they do not refuse.
 */
import type { KubeObject } from '../api/object.ts'
import { getList, getString } from '../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../api/snapshot.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { PlannedDocument } from './checks/check-definition.ts'
import { CLAIM, NODE, POD, STORAGE_CLASS, VOLUME } from './checks/kinds.ts'
import {
  tooFewVolumes,
  tooLittleCpu,
  tooLittleMemory,
  tooManyClouds,
  tooManyHosts,
} from './findings/capacity-findings.ts'
import { formatGibibytes, parseQuantity } from './room/quantity.ts'
import { countVolumes } from './room/volumes.ts'

const MEMORY = 15.4 * 2 ** 30
const CPU = 0.47
const SUPPORTED_CLOUDS = 5
const SUPPORTED_HOSTS = 250
const NO_PROVISIONER = 'kubernetes.io/no-provisioner'

/** What needs room: the site as deploying and verifying both know it. */
export interface CapacityRequest {
  /** Nodes of the site; others are not counted. */
  readonly nodes: readonly string[]
  readonly clouds: readonly { readonly name: string; readonly namespace: string }[]
  readonly documents: readonly PlannedDocument[]
}

export const capacityKinds = [NODE, POD, CLAIM, VOLUME, STORAGE_CLASS]

export function capacityFindings(wish: CapacityRequest, live: SnapshotIndex): readonly Finding[] {
  return [...checkLimits(wish), ...checkNodes(wish, live), ...checkVolumes(wish, live)]
}

function checkLimits({ clouds, documents }: CapacityRequest): readonly Finding[] {
  const hosts = documents
    .filter(({ object }) => object.kind === 'OpenStackDataPlaneNodeSet')
    .reduce((sum, { object }) => sum + Object.keys(nodeSetNodes(object)).length, 0)
  return [
    ...(clouds.length > SUPPORTED_CLOUDS ? [finding(tooManyClouds, { clouds: clouds.length })] : []),
    ...(hosts > SUPPORTED_HOSTS ? [finding(tooManyHosts, { hosts })] : []),
  ]
}

function nodeSetNodes(nodeSet: KubeObject): Readonly<Record<string, unknown>> {
  return (nodeSet as { spec?: { nodes?: Record<string, unknown> } }).spec?.nodes ?? {}
}

/** Whether the nodes tell what they have: played ones do not, and then nothing can be said. */
export function hasNodeCapacity(live: SnapshotIndex): boolean {
  return live
    .all(formatGroupKind(NODE))
    .some((node) => getString(node, 'status', 'allocatable', 'memory') !== undefined)
}

function checkNodes({ nodes, clouds }: CapacityRequest, live: SnapshotIndex): readonly Finding[] {
  if (!hasNodeCapacity(live)) return []
  const own = live.all(formatGroupKind(NODE)).filter(({ metadata }) => nodes.includes(metadata.name))
  const namespaces = new Set(clouds.map(({ namespace }) => namespace))
  const others = live.all(formatGroupKind(POD)).filter((pod) => isOtherPod(pod, nodes, namespaces))
  const free = (resource: 'cpu' | 'memory'): number =>
    own.reduce((sum, node) => sum + (parseQuantity(getString(node, 'status', 'allocatable', resource)) ?? 0), 0) -
    others.reduce((sum, pod) => sum + podRequest(pod, resource), 0)
  const count = clouds.length
  const found: Finding[] = []
  if (free('memory') < count * MEMORY)
    found.push(
      finding(tooLittleMemory, {
        clouds: count,
        needed: formatGibibytes(count * MEMORY),
        free: formatGibibytes(Math.max(0, free('memory'))),
      }),
    )
  if (free('cpu') < count * CPU)
    found.push(
      finding(tooLittleCpu, {
        clouds: count,
        needed: (count * CPU).toFixed(1),
        free: Math.max(0, free('cpu')).toFixed(1),
      }),
    )
  return found
}

/** Pods of somebody else that take room on the site's nodes now. */
function isOtherPod(pod: KubeObject, nodes: readonly string[], namespaces: ReadonlySet<string>): boolean {
  const phase = getString(pod, 'status', 'phase')
  return (
    !namespaces.has(pod.metadata.namespace ?? '') &&
    nodes.includes(getString(pod, 'spec', 'nodeName') ?? '') &&
    phase !== 'Succeeded' &&
    phase !== 'Failed'
  )
}

function podRequest(pod: KubeObject, resource: 'cpu' | 'memory'): number {
  return getList(pod, 'spec', 'containers').reduce<number>(
    (sum, container) => sum + (parseQuantity(getString(container, 'resources', 'requests', resource)) ?? 0),
    0,
  )
}

/** Only where a class cannot make volumes by itself are there too few. */
function checkVolumes({ clouds, documents }: CapacityRequest, live: SnapshotIndex): readonly Finding[] {
  if (!hasNodeCapacity(live)) return []
  const needed = countVolumes(documents.map(({ object }) => object))
  const namespaces = new Set(clouds.map(({ namespace }) => namespace))
  return [...needed].flatMap(([storageClass, count]) => {
    const definition = live.get(formatGroupKind(STORAGE_CLASS), storageClass)
    if (definition?.['provisioner'] !== NO_PROVISIONER) return []
    const there = live.all(formatGroupKind(VOLUME)).filter((volume) => isUsableVolume(volume, storageClass, namespaces))
    if (there.length >= count) return []
    return [finding(tooFewVolumes, { storageClass, needed: count, there: there.length })]
  })
}

function isUsableVolume(volume: KubeObject, storageClass: string, namespaces: ReadonlySet<string>): boolean {
  if (getString(volume, 'spec', 'storageClassName') !== storageClass) return false
  if (getString(volume, 'status', 'phase') === 'Available') return true
  return namespaces.has(getString(volume, 'spec', 'claimRef', 'namespace') ?? '')
}
