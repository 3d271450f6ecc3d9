/** Requests addresses and names for a node, and releases them when the node is deleted. */
import { type IpSet, ipSets } from '../../api/ipset.ts'
import { type GroupVersionKind, type KubeObject, objectKey } from '../../api/object.ts'
import { isOwnedBy } from '../../api/ownership.ts'
import { sameJson } from '../../api/same-json.ts'
import { dnsDatas } from '../../controllers/dns/dns-kinds.ts'
import { findInTheWay } from '../../controllers/kit/ownership.ts'
import { ignoreNotFound } from '../../controllers/kit/writes.ts'
import { formatError } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { Runtime, SharedCache } from '../../kube/runtime.ts'
import { byOwnerNode, type DataPlaneCaches } from '../caches.ts'
import { addressesUnusable } from '../findings/data-plane.ts'
import type { DataPlaneNode } from '../kinds/data-plane.ts'
import { FIELD_MANAGER } from '../writes.ts'
import { requestsSameNetworks } from './node-ipset.ts'
import type { NodeView } from './node-view.ts'

type Client = Pick<Runtime['client'], 'apply' | 'delete'>

/** Returns why the addresses cannot be requested; undefined when they are, or need not be. */
export async function requestAddresses(
  client: Client,
  cache: SharedCache<IpSet> | undefined,
  { node, addressRequest, ipSet }: NodeView,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  if (addressRequest.kind !== 'requested') return undefined
  const { name } = addressRequest.ipSet.metadata
  await deleteOwned(client, cache, { node, kind: ipSets, keep: name }, signal)
  // An IPSet that a person created under this name is left alone; one that is being deleted is awaited.
  if (ipSet && (!isOwnedBy(ipSet, node) || ipSet.metadata.deletionTimestamp)) return undefined
  if (ipSet && requestsSameNetworks(ipSet, addressRequest.ipSet)) return undefined
  try {
    await client.apply(addressRequest.ipSet, { fieldManager: FIELD_MANAGER, signal })
    return undefined
  } catch (error) {
    if (!isApiError(error, 'invalid', 'forbidden')) throw error
    return finding(addressesUnusable, { ipSet: name, why: formatError(error) })
  }
}

/** Returns the DNSData of another owner that is in the way. */
export async function registerDns(
  client: Client,
  cache: DataPlaneCaches['dnsDatas'],
  { node, dnsData }: NodeView,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  if (!cache || !dnsData) return undefined
  const live = cache.get(objectKey(dnsData.metadata))
  if (live && sameJson(live.spec, dnsData.spec) && isOwnedBy(live, node)) return undefined
  const inTheWay = findInTheWay(live, dnsData)
  if (inTheWay) return inTheWay
  await client.apply(dnsData, { fieldManager: FIELD_MANAGER, signal })
  return undefined
}

interface DeleteOptions {
  readonly node: DataPlaneNode
  readonly kind: GroupVersionKind
  /** The name of the object that stays. */
  readonly keep?: string
}

/** Deletes what was created for a node, such as an IPSet under an earlier name of its host. */
async function deleteOwned<T extends KubeObject>(
  client: Client,
  cache: SharedCache<T> | undefined,
  { node, kind, keep }: DeleteOptions,
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of cache?.byIndex(byOwnerNode, node.metadata.uid ?? '') ?? []) {
    if (metadata.name === keep || metadata.deletionTimestamp) continue
    const { namespace = '', name, uid } = metadata
    const options = { signal, ...(uid !== undefined && { preconditions: { uid } }) }
    await ignoreNotFound(client.delete({ ...kind, namespace, name }, options))
  }
}

/** Names are deleted first: no name may resolve to an address that another host already has. */
export async function releaseNetwork(
  client: Client,
  caches: Pick<DataPlaneCaches, 'ipSets' | 'dnsDatas'>,
  node: DataPlaneNode,
  signal: AbortSignal,
): Promise<void> {
  await deleteOwned(client, caches.dnsDatas, { node, kind: dnsDatas }, signal)
  await deleteOwned(client, caches.ipSets, { node, kind: ipSets }, signal)
}
