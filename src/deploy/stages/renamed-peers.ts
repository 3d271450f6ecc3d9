/**
 * Deletes BGP peers that the site has under another name now: MetalLB's FRR refuses a second peer with the same address.
 *
 * Only what the inventory lists as created by us is deleted; MetalLB reports any other peer in the way.
 */
import type { KubeObject } from '../../api/object.ts'
import { findSite, isManagedByStackloom } from '../../api/ownership.ts'
import { getString } from '../../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../../api/snapshot.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { StageContext } from '../../run/stage.ts'
import { readInventory, refKey } from '../inventory.ts'
import { BGP_PEER, findLive, objectRef } from '../object-changes.ts'
import { trimInventories } from '../prune.ts'

export async function deleteRenamedPeers(
  desired: readonly KubeObject[],
  live: SnapshotIndex,
  client: KubeClient,
  context: StageContext,
): Promise<void> {
  const renamed = findRenamedPeers(desired, live)
  if (renamed.length === 0) return
  const inventory = await readInventory(client)
  const created = new Set((inventory?.objects ?? []).filter(({ adopted }) => !adopted).map(refKey))
  for (const peer of renamed) {
    context.stop.throwIfAborted()
    const ref = objectRef(peer)
    if (!created.has(refKey(ref))) continue
    const { uid } = peer.metadata
    await client.delete(ref, { ...(uid !== undefined && { preconditions: { uid } }) })
    context.emit({ kind: 'applied', change: 'deleted', object: ref })
    await trimInventories(client, [{ ref }])
  }
}

/** Peers of this site whose router is to get a peer of another name. Pure. */
function findRenamedPeers(desired: readonly KubeObject[], live: SnapshotIndex): readonly KubeObject[] {
  const peers = desired.filter((object) => formatGroupKind(object) === BGP_PEER)
  const names = new Set(peers.map(({ metadata }) => metadata.name))
  const created = peers.filter((peer) => findLive(objectRef(peer), live) === undefined)
  return live
    .all(BGP_PEER)
    .filter(
      (peer) =>
        isManagedByStackloom(peer) &&
        !names.has(peer.metadata.name) &&
        created.some((other) => peerAddress(other) === peerAddress(peer) && findSite(other) === findSite(peer)),
    )
}

function peerAddress(peer: KubeObject): string | undefined {
  return getString(peer, 'spec', 'peerAddress')
}
