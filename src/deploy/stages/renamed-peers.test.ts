import { expect, it } from 'vitest'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import { neverAborted } from '../../../test/never-aborted.ts'
import { testPlan } from '../../../test/plan.ts'
import type { KubeObject } from '../../api/object.ts'
import { indexSnapshot } from '../../api/snapshot.ts'
import { systemClock } from '../../clock/clock.ts'
import { renderPeers } from '../../render/metallb.ts'
import { readInventory, writeInventory } from '../inventory.ts'
import { objectRef } from '../object-changes.ts'
import { deleteRenamedPeers } from './renamed-peers.ts'

const routers = ['192.0.2.1', '192.0.2.2']
const peersOf = (addresses: readonly string[]): readonly KubeObject[] =>
  renderPeers(
    testPlan({
      cluster: { metallb: { mode: 'bgp', asn: 64999, peers: addresses.map((address) => ({ address, asn: 65000 })) } },
    }),
  )
const rename = (peer: KubeObject | undefined, name: string): KubeObject => {
  if (!peer) throw new Error('no peer')
  return { ...peer, metadata: { ...peer.metadata, name } }
}
const [first, second] = peersOf(routers)

/** Names of the peers that are left of these, and of those that the record has. */
async function leftAfter(live: readonly KubeObject[], adopted: readonly string[] = []) {
  const { client, objects } = memoryCluster()
  for (const peer of live) await client.create(peer)
  const entries = live.map((peer) => ({
    ...objectRef(peer),
    ...(adopted.includes(peer.metadata.name) && { adopted: true as const }),
  }))
  await writeInventory(client, { site: 'lab', objects: entries })
  const index = indexSnapshot({ objects: objects('BGPPeer'), unread: [] })
  const context = { emit: () => undefined, stop: neverAborted(), clock: systemClock }
  await deleteRenamedPeers(peersOf(routers), index, client, context)
  const recorded = (await readInventory(client))?.objects ?? []
  return {
    peers: objects('BGPPeer').map(({ metadata }) => metadata.name),
    recorded: recorded.map(({ name }) => name),
  }
}

it('deletes a peer whose router gets a peer of another name', async () => {
  const { peers, recorded } = await leftAfter([rename(first, 'old'), rename(second, second?.metadata.name ?? '')])
  expect(peers).toEqual([second?.metadata.name])
  expect(recorded).toEqual(peers)
})

it('keeps a peer that existed before, one of another site, and one of another router', async () => {
  const label = { 'app.kubernetes.io/managed-by': 'stackloom', 'app.kubernetes.io/part-of': 'other' }
  const other = rename(first, 'other-site')
  const ofOther = { ...other, metadata: { ...other.metadata, labels: label } }
  const [third] = peersOf(['192.0.2.3'])
  const live = [rename(second, 'adopted'), ofOther, rename(third, 'third')]
  const { peers } = await leftAfter(live, ['adopted'])
  expect(peers).toEqual(['adopted', 'other-site', 'third'])
})
