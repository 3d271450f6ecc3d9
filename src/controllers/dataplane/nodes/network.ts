/** Addresses and names of a node, the acting half: asked for while the node is there, given back when it goes. */

import { type DataPlaneNode, dataPlaneNodes } from '../../../api/dataplane-node.ts'
import { ipSets } from '../../../api/ipset.ts'
import type { GroupVersionKind, KubeObject } from '../../../api/object.ts'
import { keyOf } from '../../../api/object.ts'
import { sameJson } from '../../../api/same-json.ts'
import { addressesUnusable } from '../../../errors/dataplane.ts'
import { reasonOf } from '../../../errors/failure.ts'
import { type Finding, finding } from '../../../errors/finding.ts'
import { isApiError } from '../../../kube/api-error.ts'
import type { SharedCache } from '../../../kube/runtime.ts'
import { gone } from '../../calmly.ts'
import { dnsDatas } from '../../dns/kinds.ts'
import { byMaker, FIELD_MANAGER, type World } from '../world.ts'
import { asksFor, isMadeFor } from './host-network.ts'
import type { NodeView } from './view.ts'

/** Why its addresses cannot be asked for; undefined when they are, or need not be. */
export async function askForAddresses(
  world: World,
  { node, wish, ipSet }: NodeView,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  if (wish.kind !== 'wanted') return undefined
  const { name } = wish.ipSet.metadata
  await dropOthers(world, world.ipSets, { node, kind: ipSets, name }, signal)
  // One that a person made under this name is theirs; one that was made anew waits until the old one is gone.
  if (ipSet && (!isMadeFor(ipSet, node) || ipSet.metadata.deletionTimestamp)) return undefined
  if (ipSet && asksFor(ipSet, wish.ipSet)) return undefined
  try {
    await world.client.apply(wish.ipSet, { fieldManager: FIELD_MANAGER, signal })
    return undefined
  } catch (error) {
    if (!isApiError(error, 'invalid', 'forbidden')) throw error
    return finding(addressesUnusable, { ipSet: name, why: reasonOf(error) })
  }
}

export async function registerNames(
  world: World,
  { node, wantedNames: wanted }: NodeView,
  signal: AbortSignal,
): Promise<void> {
  if (!world.dnsDatas || !wanted) return
  const there = world.dnsDatas.get(keyOf(wanted.metadata))
  if (there && sameJson(there.spec, wanted.spec) && isMadeFor(there, node)) return
  await world.client.apply(wanted, { fieldManager: FIELD_MANAGER, signal })
}

interface Kept {
  readonly node: DataPlaneNode
  readonly kind: GroupVersionKind
  /** Of the one that stays. */
  readonly name?: string
}

/** What was made for a node under another name of its host goes. */
async function dropOthers<T extends KubeObject>(
  world: World,
  cache: SharedCache<T> | undefined,
  { node, kind, name }: Kept,
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of cache?.by(byMaker, node.metadata.uid ?? '') ?? []) {
    if (metadata.name === name || metadata.deletionTimestamp) continue
    const { namespace = '', uid } = metadata
    const only = uid === undefined ? {} : { preconditions: { uid } }
    await gone(world.client.delete({ ...kind, namespace, name: metadata.name }, { signal, ...only }))
  }
}

/** Names first: nobody may be sent to an address that is somebody else's already. */
export async function giveBackNetwork(world: World, node: DataPlaneNode, signal: AbortSignal): Promise<void> {
  await dropOthers(world, world.dnsDatas, { node, kind: dnsDatas }, signal)
  await dropOthers(world, world.ipSets, { node, kind: ipSets }, signal)
}

/** The node that an IPSet or a DNSData was made for. */
export function makerKeys({ metadata }: KubeObject): readonly string[] {
  const { namespace = '', ownerReferences = [] } = metadata
  return ownerReferences
    .filter(({ kind }) => kind === dataPlaneNodes.kind)
    .map(({ name }) => keyOf({ namespace, name }))
}
