/** Addresses and names of a node, the acting half: asked for while the node is there, given back when it goes. */

import { ipSets } from '../../api/ipset.ts'
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { objectKey } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import { dnsDatas } from '../../controllers/dns/dns-kinds.ts'
import { ignoreNotFound } from '../../controllers/kit/writes.ts'
import { formatError } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { SharedCache } from '../../kube/runtime.ts'
import { addressesUnusable } from '../findings/data-plane.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../kinds/node.ts'
import { byMaker, FIELD_MANAGER, type World } from '../world.ts'
import { isOwnedByNode, requestsSameNetworks } from './node-ipset.ts'
import type { NodeView } from './node-view.ts'

/** Why its addresses cannot be asked for; undefined when they are, or need not be. */
export async function requestAddresses(
  world: World,
  { node, addressRequest, ipSet }: NodeView,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  if (addressRequest.kind !== 'wanted') return undefined
  const { name } = addressRequest.ipSet.metadata
  await deleteOthers(world, world.ipSets, { node, kind: ipSets, name }, signal)
  // One that a person made under this name is theirs; one that was made anew waits until the old one is gone.
  if (ipSet && (!isOwnedByNode(ipSet, node) || ipSet.metadata.deletionTimestamp)) return undefined
  if (ipSet && requestsSameNetworks(ipSet, addressRequest.ipSet)) return undefined
  try {
    await world.client.apply(addressRequest.ipSet, { fieldManager: FIELD_MANAGER, signal })
    return undefined
  } catch (error) {
    if (!isApiError(error, 'invalid', 'forbidden')) throw error
    return finding(addressesUnusable, { ipSet: name, why: formatError(error) })
  }
}

export async function registerDns(
  world: World,
  { node, dnsData: wanted }: NodeView,
  signal: AbortSignal,
): Promise<void> {
  if (!world.dnsDatas || !wanted) return
  const there = world.dnsDatas.get(objectKey(wanted.metadata))
  if (there && sameJson(there.spec, wanted.spec) && isOwnedByNode(there, node)) return
  await world.client.apply(wanted, { fieldManager: FIELD_MANAGER, signal })
}

interface DeleteOthersOptions {
  readonly node: DataPlaneNode
  readonly kind: GroupVersionKind
  /** Of the one that stays. */
  readonly name?: string
}

/** What was made for a node under another name of its host goes. */
async function deleteOthers<T extends KubeObject>(
  world: World,
  cache: SharedCache<T> | undefined,
  { node, kind, name }: DeleteOthersOptions,
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of cache?.byIndex(byMaker, node.metadata.uid ?? '') ?? []) {
    if (metadata.name === name || metadata.deletionTimestamp) continue
    const { namespace = '', uid } = metadata
    const only = uid === undefined ? {} : { preconditions: { uid } }
    await ignoreNotFound(world.client.delete({ ...kind, namespace, name: metadata.name }, { signal, ...only }))
  }
}

/** Names first: nobody may be sent to an address that is somebody else's already. */
export async function releaseNetwork(world: World, node: DataPlaneNode, signal: AbortSignal): Promise<void> {
  await deleteOthers(world, world.dnsDatas, { node, kind: dnsDatas }, signal)
  await deleteOthers(world, world.ipSets, { node, kind: ipSets }, signal)
}

/** The node that an IPSet or a DNSData was made for. */
export function ownerNodeKeys({ metadata }: KubeObject): readonly string[] {
  const { namespace = '', ownerReferences = [] } = metadata
  return ownerReferences
    .filter(({ kind }) => kind === dataPlaneNodes.kind)
    .map(({ name }) => objectKey({ namespace, name }))
}
