/**
 * Keeps what the views are computed from, and recomputes only what a change affects: the status of one cloud, the
 * addresses of one object. Does not know documents or the stream.
 */
import { groupBy } from '../api/collections.ts'
import { type KubeObject, objectIdentity } from '../api/object.ts'
import { formatGroupKind, type SnapshotIndex } from '../api/snapshot.ts'
import { computeGroupStatus, type GroupStatus, parseInventories } from '../deploy/deployment-status.ts'
import type { Inventory } from '../deploy/inventory.ts'
import { type HeldAddress, listHeldAddresses } from '../verify/held-addresses.ts'
import type { LiveSource } from './live-source.ts'
import { findFullestPool } from './views/pool-use.ts'
import type { LiveSite, PlannedSite } from './views/view-input.ts'

const CONTROL_PLANE = 'core.openstack.org/OpenStackControlPlane'

type Pool = NonNullable<ReturnType<typeof findFullestPool>>

export interface LiveState {
  /** Reads everything again. */
  readonly load: () => void
  /** An object was added, changed or deleted. */
  readonly change: (object: KubeObject, isDeleted: boolean) => void
  /** The status of clouds that are not ready is computed again: some verdicts depend on the time. */
  readonly age: () => void
  readonly site: () => LiveSite
  readonly inventories: () => readonly Inventory[]
  /** The fullest pool of each cloud. */
  readonly pools: (planned: PlannedSite | undefined) => ReadonlyMap<string, Pool>
}

/** `namespaces`: clouds that are known without an inventory, by the plan or by an option. */
export function createLiveState(
  source: LiveSource,
  namespaces: () => ReadonlyMap<string, string>,
  now: () => number,
): LiveState {
  let inventories: readonly Inventory[] = []
  const groups = new Map<string, GroupStatus>()
  const dirty = new Set<string>()
  const held = new Map<string, readonly HeldAddress[]>()
  let pools: { readonly plan: PlannedSite; readonly byCloud: Map<string, Pool> } | undefined
  const changedNamespaces = new Set<string>()
  const keyOf = ({ cloud }: Inventory): string => cloud ?? 'shared'

  /** Without the right to read inventories, a cloud is what its namespace has. */
  const listKnownClouds = (): readonly Inventory[] =>
    [...namespaces()]
      .filter(([namespace]) => source.mayRead(namespace))
      .map(([namespace, cloud]) => ({ site: '', cloud, namespace, objects: [] }))
  /** A cloud that Argo CD, Flux or another tool deployed has a control plane and no inventory. */
  const listUnrecordedClouds = (known: readonly Inventory[]): readonly Inventory[] => {
    const namespacesOfKnown = new Set(known.map(({ namespace }) => namespace))
    const controlPlanes = source.index().all(CONTROL_PLANE)
    return [...groupBy(controlPlanes, ({ metadata }) => metadata.namespace ?? '')]
      .filter(([namespace]) => !namespacesOfKnown.has(namespace))
      .map(([namespace, objects]) => ({
        site: '',
        cloud: namespaces().get(namespace) ?? namespace,
        namespace,
        objects: objects.map(({ apiVersion, kind, metadata: { name } }) => ({ apiVersion, kind, namespace, name })),
      }))
  }
  const changesClouds = (object: KubeObject, isDeleted: boolean): boolean => {
    const groupKind = formatGroupKind(object)
    if (groupKind !== CONTROL_PLANE) return groupKind === 'ConfigMap'
    return isDeleted || !inventories.some(({ namespace }) => namespace === object.metadata.namespace)
  }
  const readInventories = (): void => {
    const recorded = parseInventories({ objects: source.index().all('ConfigMap'), unread: [] })
    const known = source.index().unread('ConfigMap') === undefined ? recorded : listKnownClouds()
    inventories = [...known, ...listUnrecordedClouds(known)]
    for (const inventory of inventories) dirty.add(keyOf(inventory))
    const keys = new Set(inventories.map(keyOf))
    for (const key of groups.keys()) if (!keys.has(key)) groups.delete(key)
  }
  const holdAddresses = (object: KubeObject, isDeleted: boolean): void => {
    const identity = objectIdentity(object)
    const found = isDeleted ? [] : listHeldAddresses(indexOne(object))
    const before = held.get(identity) ?? []
    if (found.length === 0 && before.length === 0) return
    for (const { namespace } of [...before, ...found]) if (namespace !== undefined) changedNamespaces.add(namespace)
    if (found.length > 0) held.set(identity, found)
    else held.delete(identity)
  }
  const refreshGroups = (): void => {
    for (const inventory of inventories) {
      if (!dirty.has(keyOf(inventory))) continue
      groups.set(keyOf(inventory), computeGroupStatus(inventory, source.index(inventory.namespace), now()))
    }
    dirty.clear()
  }
  const orderedGroups = (): readonly GroupStatus[] => {
    refreshGroups()
    return [...groups.values()].toSorted((a, b) => (a.cloud ?? '').localeCompare(b.cloud ?? ''))
  }
  return {
    load: () => {
      readInventories()
      held.clear()
      pools = undefined
      for (const object of source.objects()) holdAddresses(object, false)
    },
    change: (object, isDeleted) => {
      if (changesClouds(object, isDeleted)) readInventories()
      holdAddresses(object, isDeleted)
      const { namespace } = object.metadata
      for (const inventory of inventories) {
        const concerns = namespace === undefined || inventory.namespace === namespace || inventory.cloud === undefined
        if (concerns) dirty.add(keyOf(inventory))
      }
    },
    age: () => {
      for (const [key, { objects }] of groups)
        if (objects.some(({ readiness }) => readiness.kind !== 'ready')) dirty.add(key)
    },
    site: () => ({
      index: source.index(),
      unread: source.unread(),
      groups: orderedGroups(),
      denied: new Set([...namespaces().keys()].filter((namespace) => !source.mayRead(namespace))),
      get held() {
        return [...held.values()].flat()
      },
    }),
    inventories: () => inventories,
    pools: (planned) => {
      if (!planned) return new Map()
      if (pools?.plan !== planned) {
        pools = { plan: planned, byCloud: new Map() }
        for (const { namespace } of planned.plan.clouds) changedNamespaces.add(namespace)
      }
      if (changedNamespaces.size === 0) return pools.byCloud
      const byNamespace = groupBy(
        [...held.values()].flat().filter(({ namespace = '' }) => changedNamespaces.has(namespace)),
        ({ namespace }) => namespace,
      )
      for (const cloud of planned.plan.clouds) {
        if (!changedNamespaces.has(cloud.namespace)) continue
        const addresses = (byNamespace.get(cloud.namespace) ?? []).map(({ address }) => address)
        const pool = findFullestPool(cloud, addresses)
        if (pool) pools.byCloud.set(cloud.name, pool)
      }
      changedNamespaces.clear()
      return pools.byCloud
    },
  }
}

function indexOne(object: KubeObject): Pick<SnapshotIndex, 'all'> {
  const groupKind = formatGroupKind(object)
  return { all: (wanted) => (wanted === groupKind ? [object] : []) }
}
