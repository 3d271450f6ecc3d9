/** `ip --live`: finds the holder of an address in the cluster, and since when it has it. */
import { indexSnapshot, type SnapshotIndex } from '../../api/snapshot.ts'
import type { Finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import type { Answer } from '../../plan/lookup.ts'
import { findHolders, holderFindings, holderKinds, type LiveHolder } from '../../verify/address-holders.ts'
import { listHeldAddresses } from '../../verify/held-addresses.ts'
import { type ClusterFlags, gatherSnapshot } from '../cluster.ts'
import type { Io } from '../io.ts'
import { formatTable } from '../output/table.ts'

export interface LiveFlags extends ClusterFlags {
  readonly live?: boolean
  readonly from?: string
}

export interface LiveAddress {
  readonly address: string
  readonly holders: readonly LiveHolder[]
}

export interface LiveAnswer {
  readonly live: readonly LiveAddress[]
  /** Two holders of one address, or another holder than planned. */
  readonly findings: readonly Finding[]
  /** What could not be read. */
  readonly gaps: readonly Finding[]
}

export interface LiveCluster {
  readonly index: SnapshotIndex
  /** Every address that an object has. */
  readonly held: readonly string[]
  readonly gaps: readonly Finding[]
}

export async function readLiveCluster(flags: LiveFlags, io: Io): Promise<LiveCluster> {
  const { snapshot, findings: gaps } = await gatherSnapshot(flags, holderKinds, io)
  const index = indexSnapshot(snapshot)
  return { index, held: listHeldAddresses(index).map(({ address }) => address), gaps }
}

/** For a name, all addresses that the plan has for it; an address even if the plan does not have it. */
export function lookUpLive(query: string, answers: readonly Answer[], { index, gaps }: LiveCluster): LiveAnswer {
  const named = answers.flatMap((answer) => (answer.kind === 'name' ? answer.addresses : []))
  const addresses = parseAddress(query) ? [query] : [...new Set(named.map(({ address }) => address))]
  const live = addresses.map((address) => ({ address, holders: findHolders(index, address) }))
  const owners = answers.flatMap((answer) => (answer.kind === 'address' ? [answer.namespace] : []))
  return { live, findings: live.flatMap(({ address, holders }) => holderFindings(address, holders, owners)), gaps }
}

export function formatLive({ address, holders }: LiveAddress, colour: boolean): string {
  if (holders.length === 0) return `${address}: nothing in the cluster has it or gives it out\n`
  const rows = holders.map(({ kind, who: holder, how, since }) => [
    kind === 'has' ? 'held by' : 'given by',
    holder,
    since ?? '-',
    how,
  ])
  return formatTable(['LIVE', 'HOLDER', 'SINCE', 'HOW'], rows, Number.POSITIVE_INFINITY, colour)
}
