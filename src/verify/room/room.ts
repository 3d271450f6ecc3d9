/**
 * Room: what the site's clouds need, against what the cluster has. Before a deployment, and as a check of `verify`.
 *
 * Pure. Figures of use are measurements of one highly available control plane while idle: they warn, they do not refuse.
 */
import type { KubeObject } from '../../api/object.ts'
import { listAt, textAt } from '../../api/raw-object.ts'
import { groupKindOf, type SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import {
  tooFewVolumes,
  tooLittleCpu,
  tooLittleMemory,
  tooManyClouds,
  tooManyHosts,
} from '../../errors/room.ts'
import type { PlannedDocument } from '../checks/check.ts'
import { CLAIM, NODE, POD, STORAGE_CLASS, VOLUME } from '../checks/kinds.ts'
import { gibibytes, quantity } from './quantity.ts'
import { volumesOf } from './volumes.ts'

const MEMORY = 15.4 * 2 ** 30
const CPU = 0.47
const SUPPORTED_CLOUDS = 5
const SUPPORTED_HOSTS = 250
const NO_PROVISIONER = 'kubernetes.io/no-provisioner'

/** What needs room: the site as deploying and verifying both know it. */
export interface RoomWish {
  /** Nodes of the site; others are not counted. */
  readonly nodes: readonly string[]
  readonly clouds: readonly { readonly name: string; readonly namespace: string }[]
  readonly documents: readonly PlannedDocument[]
}

export const roomKinds = [NODE, POD, CLAIM, VOLUME, STORAGE_CLASS]

export function roomFindings(wish: RoomWish, live: SnapshotIndex): readonly Finding[] {
  return [...limits(wish), ...machines(wish, live), ...volumes(wish, live)]
}

function limits({ clouds, documents }: RoomWish): readonly Finding[] {
  const hosts = documents
    .filter(({ object }) => object.kind === 'OpenStackDataPlaneNodeSet')
    .reduce((sum, { object }) => sum + Object.keys(nodesOf(object)).length, 0)
  return [
    ...(clouds.length > SUPPORTED_CLOUDS ? [finding(tooManyClouds, { clouds: clouds.length })] : []),
    ...(hosts > SUPPORTED_HOSTS ? [finding(tooManyHosts, { hosts })] : []),
  ]
}

function nodesOf(nodeSet: KubeObject): Readonly<Record<string, unknown>> {
  return (nodeSet as { spec?: { nodes?: Record<string, unknown> } }).spec?.nodes ?? {}
}

/** Whether the nodes tell what they have: played ones do not, and then nothing can be said. */
export function knowsRoom(live: SnapshotIndex): boolean {
  return live
    .all(groupKindOf(NODE))
    .some((node) => textAt(node, 'status', 'allocatable', 'memory') !== undefined)
}

function machines({ nodes, clouds }: RoomWish, live: SnapshotIndex): readonly Finding[] {
  if (!knowsRoom(live)) return []
  const own = live.all(groupKindOf(NODE)).filter(({ metadata }) => nodes.includes(metadata.name))
  const namespaces = new Set(clouds.map(({ namespace }) => namespace))
  const others = live.all(groupKindOf(POD)).filter((pod) => isElsewhere(pod, nodes, namespaces))
  const free = (resource: 'cpu' | 'memory'): number =>
    own.reduce((sum, node) => sum + (quantity(textAt(node, 'status', 'allocatable', resource)) ?? 0), 0) -
    others.reduce((sum, pod) => sum + requestOf(pod, resource), 0)
  const count = clouds.length
  const found: Finding[] = []
  if (free('memory') < count * MEMORY)
    found.push(
      finding(tooLittleMemory, {
        clouds: count,
        needed: gibibytes(count * MEMORY),
        free: gibibytes(Math.max(0, free('memory'))),
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
function isElsewhere(pod: KubeObject, nodes: readonly string[], namespaces: ReadonlySet<string>): boolean {
  const phase = textAt(pod, 'status', 'phase')
  return (
    !namespaces.has(pod.metadata.namespace ?? '') &&
    nodes.includes(textAt(pod, 'spec', 'nodeName') ?? '') &&
    phase !== 'Succeeded' &&
    phase !== 'Failed'
  )
}

function requestOf(pod: KubeObject, resource: 'cpu' | 'memory'): number {
  return listAt(pod, 'spec', 'containers').reduce<number>(
    (sum, container) => sum + (quantity(textAt(container, 'resources', 'requests', resource)) ?? 0),
    0,
  )
}

/** Only where a class cannot make volumes by itself are there too few. */
function volumes({ clouds, documents }: RoomWish, live: SnapshotIndex): readonly Finding[] {
  if (!knowsRoom(live)) return []
  const needed = volumesOf(documents.map(({ object }) => object))
  const namespaces = new Set(clouds.map(({ namespace }) => namespace))
  return [...needed].flatMap(([storageClass, count]) => {
    const definition = live.get(groupKindOf(STORAGE_CLASS), storageClass)
    if (definition?.['provisioner'] !== NO_PROVISIONER) return []
    const there = live.all(groupKindOf(VOLUME)).filter((volume) => isUsable(volume, storageClass, namespaces))
    if (there.length >= count) return []
    return [finding(tooFewVolumes, { storageClass, needed: count, there: there.length })]
  })
}

function isUsable(volume: KubeObject, storageClass: string, namespaces: ReadonlySet<string>): boolean {
  if (textAt(volume, 'spec', 'storageClassName') !== storageClass) return false
  if (textAt(volume, 'status', 'phase') === 'Available') return true
  return namespaces.has(textAt(volume, 'spec', 'claimRef', 'namespace') ?? '')
}
