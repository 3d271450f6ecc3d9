/**
 * Removes node networking: sets the interfaces of a policy to `state: absent`, waits, then deletes the policy.
 *
 * nmstate leaves what a policy no longer names, and what a deleted policy named. What to remove is read from the live
 * policy, so that a cloud can be taken down without its site file. Interfaces that another policy of the node refers to stay;
 * a NIC stays too and loses the addresses that the policy gave it.
 */

import { asRecord } from '../api/json.ts'
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { isManagedByStackloom } from '../api/ownership.ts'
import { getList, getString } from '../api/raw-object.ts'
import type { KubeClient, ObjectRef } from '../kube/client.ts'
import type { StageContext } from '../run/stage.ts'
import { objectReadiness } from '../verify/readiness/readiness.ts'
import { defaultGrace, progressing, type Readiness } from '../verify/readiness/verdict.ts'
import { type LiveView, openLiveView, waitUntilReady } from './live-view.ts'
import { FIELD_MANAGER, findLive, NODE_POLICY } from './object-changes.ts'

export const nodeKinds: readonly GroupVersionKind[] = [
  { apiVersion: 'v1', kind: 'Node' },
  { apiVersion: 'nmstate.io/v1beta1', kind: 'NodeNetworkConfigurationEnactment' },
]

const POLICY = { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' }
/** Types of interfaces that a policy creates; NICs belong to the machine. */
const CREATED_TYPES = ['vlan', 'linux-bridge', 'bond']

interface Interface {
  readonly name: string
  readonly type: string
  readonly ipv4?: { readonly enabled: boolean }
  readonly ipv6?: { readonly enabled: boolean }
}

interface ReleasedInterface extends Interface {
  readonly state: 'up'
}

/** One node at a time, for the same reason as in the stage that creates them. */
export async function removeNodePolicies(
  refs: readonly ObjectRef[],
  client: KubeClient,
  context: StageContext,
  sharedView?: LiveView,
): Promise<void> {
  if (refs.length === 0) return
  const view = sharedView ?? openLiveView(client)
  try {
    await view.watch([POLICY, ...nodeKinds], context)
    const removed = new Set(refs.map(({ name }) => name))
    for (const { name } of refs) {
      context.stop.throwIfAborted()
      const all = view.index().all(NODE_POLICY)
      const policy = all.find(({ metadata }) => metadata.name === name)
      // A policy of another manager stays, whatever its name is.
      if (!policy || !isManagedByStackloom(policy)) continue
      const others = all.filter(({ metadata }) => !removed.has(metadata.name))
      await removeNodePolicy(policy, others, { client, view }, context)
    }
  } finally {
    if (!sharedView) await view.close()
  }
}

async function removeNodePolicy(
  policy: KubeObject,
  others: readonly KubeObject[],
  { client, view }: { readonly client: KubeClient; readonly view: LiveView },
  context: StageContext,
): Promise<void> {
  const ref = { ...POLICY, name: policy.metadata.name }
  const desiredState = absentState(policy, others)
  if (desiredState && !isAbsentAlready(policy)) {
    const patch = { spec: { desiredState } }
    const written = await client.patch(ref, patch, { type: 'merge', fieldManager: FIELD_MANAGER })
    context.emit({ kind: 'applied', change: 'changed', object: ref })
    const generation = written.metadata.generation ?? 0
    const check = (): Readiness => {
      const around = view.index()
      const live = findLive(ref, around)
      if (!live || (live.metadata.generation ?? 0) < generation) return progressing(`${ref.name} to be seen as written`)
      return objectReadiness(ref, { around, now: context.clock.now(), grace: defaultGrace, nodes: [] })
    }
    await waitUntilReady(check, view, context)
  }
  const { uid } = policy.metadata
  await client.delete(ref, { ...(uid !== undefined && { preconditions: { uid } }) })
  context.emit({ kind: 'applied', change: 'deleted', object: ref })
}

/**
 * What must be absent before the policy changes or goes, with null where nothing of a field must. Undefined: all of it is
 * in the other policies of the node.
 */
export function absentState(policy: KubeObject, others: readonly KubeObject[]): AbsentState | undefined {
  const interfaces = [...absentInterfaces(policy, others), ...releasedInterfaces(policy, others)]
  const routes = absentRoutes(policy, others)
  const isNeeded = interfaces.length > 0 || Object.values(routes).some((list) => list !== null)
  return isNeeded ? { interfaces, ...routes } : undefined
}

type AbsentState = Readonly<Record<string, unknown>>

/** Bridges before their ports, and nothing that another policy of the same node refers to. */
export function absentInterfaces(policy: KubeObject, others: readonly KubeObject[]): readonly Interface[] {
  const node = selectedNode(policy)
  const kept = new Set(others.filter((other) => selectedNode(other) === node).flatMap(referencedInterfaces))
  const created = listInterfaces(policy).filter(({ name, type }) => CREATED_TYPES.includes(type) && !kept.has(name))
  return created
    .toSorted((a, b) => Number(b.type === 'linux-bridge') - Number(a.type === 'linux-bridge'))
    .map(({ name, type }) => ({ name, type, state: 'absent' }))
}

/**
 * Interfaces that stay and lose their addresses of a family, because no other policy of the node says which it has: nmstate
 * leaves the addresses of a family that is not named.
 */
function releasedInterfaces(policy: KubeObject, others: readonly KubeObject[]): readonly ReleasedInterface[] {
  const node = selectedNode(policy)
  const named = others.filter((other) => selectedNode(other) === node).flatMap(listInterfaces)
  const removed = new Set(absentInterfaces(policy, others).map(({ name }) => name))
  return listInterfaces(policy).flatMap((iface) => {
    const { name, type } = iface
    const released = (['ipv4', 'ipv6'] as const).filter(
      (family) => iface[family]?.enabled && !named.some((other) => other.name === name && other[family]),
    )
    if (removed.has(name) || released.length === 0) return []
    return [
      {
        name,
        type,
        state: 'up' as const,
        ...Object.fromEntries(released.map((family) => [family, { enabled: false }])),
      },
    ]
  })
}

function listInterfaces(policy: KubeObject): readonly Interface[] {
  return getList(policy, 'spec', 'desiredState', 'interfaces') as readonly Interface[]
}

/** By field of the desired state; null, which a merge patch removes, where nothing is absent. */
type AbsentLists = Readonly<Record<string, { readonly config: readonly unknown[] } | null>>

/** Rules, and routes that do not go with their interface, are removed by name. */
export function absentRoutes(policy: KubeObject, others: readonly KubeObject[]): AbsentLists {
  const node = selectedNode(policy)
  const removed = new Set(absentInterfaces(policy, others).map(({ name }) => name))
  const neighbours = others.filter((other) => selectedNode(other) === node)
  const absent = (field: string, isRemoved: (entry: unknown) => boolean) => {
    const entries = (from: KubeObject) => getList(from, 'spec', 'desiredState', field, 'config')
    const kept = new Set(neighbours.flatMap(entries).map(entryKey))
    const config = entries(policy)
      .filter((entry) => isRemoved(entry) && !kept.has(entryKey(entry)))
      .map((entry) => ({ ...(entry as object), state: 'absent' }))
    return config.length > 0 ? { config } : null
  }
  return {
    routes: absent('routes', (route) => !removed.has(getString(route, 'next-hop-interface') ?? '')),
    'route-rules': absent('route-rules', () => true),
  }
}

/** The API server sorts the fields of an entry, and rendered ones have their own order. */
function entryKey(entry: unknown): string {
  const fields = Object.entries(asRecord(entry)).filter(([field]) => field !== 'state')
  return JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Interfaces that a policy creates or builds on. */
function referencedInterfaces(policy: KubeObject): readonly string[] {
  return getList(policy, 'spec', 'desiredState', 'interfaces').flatMap((iface) => [
    getString(iface, 'name') ?? '',
    getString(iface, 'vlan', 'base-iface') ?? '',
    ...getList(iface, 'bridge', 'port').flatMap((port) => getString(port, 'name') ?? []),
  ])
}

function isAbsentAlready(policy: KubeObject): boolean {
  const interfaces = listInterfaces(policy)
  return interfaces.length > 0 && interfaces.every((iface) => getString(iface, 'state') === 'absent')
}

export function selectedNode(policy: KubeObject): string {
  return getString(policy, 'spec', 'nodeSelector', 'kubernetes.io/hostname') ?? 'all'
}
