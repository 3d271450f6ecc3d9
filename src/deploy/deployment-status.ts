/**
 * Computes the state of deployed clouds: readiness of everything that the inventories list and that results from it.
 *
 * Pure over a snapshot. Needs no site file, so it works from any machine.
 */
import { type GroupVersionKind, objectKey } from '../api/object.ts'
import { formatObjectName } from '../api/raw-object.ts'
import { formatGroupKind, indexSnapshot, type Snapshot, type SnapshotIndex } from '../api/snapshot.ts'
import { liveReadiness, objectReadiness } from '../verify/readiness/readiness.ts'
import { defaultGrace, type Readiness, type ReadinessContext } from '../verify/readiness/verdict.ts'
import { INVENTORY_LABEL, type Inventory, parseInventory } from './inventory.ts'

export interface ObjectStatus {
  /** `Service openstack/keystone-internal`. */
  readonly name: string
  readonly readiness: Readiness
}

export interface GroupStatus {
  /** Absent for what the clouds share. */
  readonly cloud?: string
  readonly namespace?: string
  readonly objects: readonly ObjectStatus[]
}

/** Kinds that operators create in a cloud's namespace, judged by their readiness rules. */
const CREATED_KINDS = ['Service', 'PersistentVolumeClaim', 'batch/Job', 'apps/Deployment', 'apps/StatefulSet']

const relatedKinds: readonly GroupVersionKind[] = [
  { apiVersion: 'v1', kind: 'Node' },
  { apiVersion: 'v1', kind: 'Pod' },
  { apiVersion: 'v1', kind: 'Event' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
  { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'apps/v1', kind: 'StatefulSet' },
  { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'ClusterServiceVersion' },
  { apiVersion: 'nmstate.io/v1beta1', kind: 'NodeNetworkConfigurationEnactment' },
]

export const inventoryKinds: readonly GroupVersionKind[] = [{ apiVersion: 'v1', kind: 'ConfigMap' }]

export function statusKinds(inventories: readonly Inventory[]): readonly GroupVersionKind[] {
  const listed = inventories.flatMap(({ objects }) =>
    objects.filter(({ kind }) => kind !== 'Secret').map(({ apiVersion, kind }) => ({ apiVersion, kind })),
  )
  return [...new Map([...relatedKinds, ...listed].map((kind) => [formatGroupKind(kind), kind])).values()]
}

export function parseInventories(snapshot: Snapshot): readonly Inventory[] {
  return snapshot.objects
    .filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.labels?.[INVENTORY_LABEL] !== undefined)
    .map(parseInventory)
}

export function computeStatus(
  inventories: readonly Inventory[],
  snapshot: Snapshot,
  now: number,
): readonly GroupStatus[] {
  const index = indexSnapshot(snapshot)
  const ordered = inventories.toSorted((a, b) => (a.cloud ?? '').localeCompare(b.cloud ?? ''))
  return ordered.map((inventory) => computeGroupStatus(inventory, index, now))
}

/** The status of one cloud, or of what the clouds share. */
export function computeGroupStatus(
  { cloud, namespace, objects }: Inventory,
  index: SnapshotIndex,
  now: number,
): GroupStatus {
  const context: ReadinessContext = { around: index, now, grace: defaultGrace, nodes: [] }
  const listed = objects
    .filter(({ kind }) => kind !== 'Secret')
    .map((ref) => ({ name: `${ref.kind} ${objectKey(ref)}`, readiness: objectReadiness(ref, context) }))
  const created = CREATED_KINDS.flatMap((groupKind) => index.all(groupKind))
    .filter(({ metadata }) => namespace !== undefined && metadata.namespace === namespace)
    .map((object) => ({ name: formatObjectName(object), readiness: liveReadiness(object, context) }))
  return {
    ...(cloud !== undefined && { cloud }),
    ...(namespace !== undefined && { namespace }),
    objects: [...listed, ...created],
  }
}
