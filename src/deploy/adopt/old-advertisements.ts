/** Advertisements of pools that go: those that serve nobody else go with them, the others stay and are told. Pure. */
import type { KubeObject } from '../../api/object.ts'
import { getList } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { oldObjectKept } from '../findings/adopt.ts'
import type { OldPool } from './old-pools.ts'

export type OldAdvertisement = KubeObject

interface MovingNetwork {
  readonly network: string
  readonly pool: KubeObject
  readonly old: readonly OldPool[]
}

export function oldAdvertisements(
  live: SnapshotIndex,
  networks: readonly MovingNetwork[],
  own: readonly KubeObject[],
): { readonly gone: readonly OldAdvertisement[]; readonly findings: readonly Finding[] } {
  const pools = new Set(live.all('metallb.io/IPAddressPool').map(({ metadata }) => metadata.name))
  const going = new Set(
    networks.flatMap(({ old }) => old.filter(({ keeps }) => keeps.length === 0).map(({ pool }) => pool.metadata.name)),
  )
  const ours = new Set(own.map(({ metadata }) => metadata.name))
  // After a move that was cut off the old pool is gone already; its name is still that of the network.
  const mine = new Set([...going, ...networks.map(({ network }) => network), ...networks.map(poolName)])
  const gone: KubeObject[] = []
  const findings: Finding[] = []
  const all = [...live.all('metallb.io/L2Advertisement'), ...live.all('metallb.io/BGPAdvertisement')]
  for (const one of all.filter(({ metadata }) => !ours.has(metadata.name))) {
    const named = getList(one, 'spec', 'ipAddressPools').filter((pool) => typeof pool === 'string')
    if (named.length === 0 || !named.some((pool) => mine.has(pool))) continue
    const others = named.filter((pool) => !mine.has(pool) || isForeign(pool, pools, going, networks))
    if (others.length === 0) gone.push(one)
    else {
      const why = `it also announces ${others.join(', ')}`
      findings.push(finding(oldObjectKept, { object: `${one.kind} ${one.metadata.name}`, why }))
    }
  }
  return { gone, findings }
}

function poolName({ pool }: MovingNetwork): string {
  return pool.metadata.name
}

/** A pool that stays and is not ours: it is only called like a network of ours. */
function isForeign(
  name: string,
  pools: ReadonlySet<string>,
  going: ReadonlySet<string>,
  networks: readonly MovingNetwork[],
): boolean {
  return pools.has(name) && !going.has(name) && !networks.some((network) => poolName(network) === name)
}
