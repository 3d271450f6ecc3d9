/**
 * IPAM: 1,000 IPSets on five networks from created to Ready, by the real infra-operator, by ours, and the bare limit of
 * the API server: 3,000 creates by our client alone. Then what 10,000 cost, a change of the NetConfig, and a restart.
 *
 * infra-operator's client is throttled at 20 requests a second: that is how it is shipped, and most of its time.
 * Everything is on this machine's loopback, without a network namespace and its relays: nobody has a longer way than
 * another. Each has served a few before it is timed.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ipSets, reservations } from '../src/api/ipset.ts'
import { netConfigs } from '../src/api/netconfig.ts'
import { type Cluster, startCluster } from '../test/cluster.ts'
import { startPeer } from '../test/real/ipam/peer.ts'
import { writesOf } from '../test/real/ipam/writes.ts'
import type { Figure } from '../tools/figure.ts'
import { once } from '../tools/measure.ts'
import { configure, furnish, hostOf, openWitness, runOperator } from './ipam-stage.ts'

const FEW = 1_000
const MANY = 10_000
/** Enough that caches are filled and what is run often is compiled. */
const BEFORE = 100

interface Speed {
  readonly bareMs: number
  readonly peerMs: number
  readonly oursMs: number
  readonly writes: number
  readonly p99Ms: number
}

const speed = once(async (): Promise<Speed> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  const { cluster, stop } = await startCluster({ crds: '2023', netns: false })
  try {
    await furnish(cluster)
    const bareBefore = await bareLimit(cluster, 'bare-before')
    const witness = await openWitness(cluster)
    await configure(cluster, 'peer')
    const peer = await startPeer(cluster, path.join(folder, 'infra-operator.log'))
    await warmUp(cluster, witness, 'warm-peer')
    const theirs = await witness.serve('peer', FEW)
    await peer.stop()
    const operator = await runOperator(cluster)
    await configure(cluster, 'ours')
    await warmUp(cluster, witness, 'warm-ours')
    const before = await writesOf(cluster)
    const ours = await witness.serve('ours', FEW)
    const after = await writesOf(cluster)
    await operator.kill()
    await witness.close()
    // Around the others, so that a machine that is busy for a while is busy for both.
    const bareMs = (bareBefore + (await bareLimit(cluster, 'bare-after'))) / 2
    const seconds = (ms: number): string => (ms / 1000).toFixed(1)
    console.error(
      `# ${FEW} IPSets: infra-operator ${seconds(theirs.ms)} s (its client is throttled at 20 requests a second), ` +
        `ours ${seconds(ours.ms)} s; ${3 * FEW} bare creates: ${seconds(bareMs)} s`,
    )
    const written = after.network + after.ledger - before.network - before.ledger
    return {
      bareMs,
      peerMs: theirs.ms,
      oursMs: ours.ms,
      // The creates of the IPSets are the user's.
      writes: written / FEW - 1,
      p99Ms: percentile(ours.each, 0.99),
    }
  } finally {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

type Witness = Awaited<ReturnType<typeof openWitness>>

/** What was there is taken over, and the first grants of all are made, before anything is timed. */
async function warmUp(cluster: Cluster, witness: Witness, namespace: string): Promise<void> {
  await configure(cluster, namespace)
  await witness.serve(namespace, BEFORE)
}

/** Three objects of the size of a Reservation for each IPSet that there would be. */
async function bareLimit({ client }: Cluster, namespace: string): Promise<number> {
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  // Owned by something, as the operator's are: no webhook is asked about them.
  const owner = { apiVersion: 'v1', kind: 'Namespace', name: namespace, uid: namespace }
  const make = (n: number): Promise<unknown> => {
    const entries = Object.entries(hostOf(namespace, n).spec.networks).map(([at, { name }]) => [
      name,
      { network: name, subnet: 'subnet1', address: `10.${at}.0.1` },
    ])
    return client.create({
      ...reservations,
      metadata: { name: `bare-${n}`, namespace, ownerReferences: [owner] },
      spec: { ipSetRef: { name: `bare-${n}` }, reservation: Object.fromEntries(entries) },
    })
  }
  await Promise.all(Array.from({ length: 3 * BEFORE }, (_, n) => make(n)))
  const began = performance.now()
  await Promise.all(Array.from({ length: 3 * FEW }, (_, n) => make(3 * BEFORE + n)))
  return performance.now() - began
}

interface Scale {
  readonly growth: number
  readonly peakMiB: number
  readonly changeWrites: number
  readonly restart: number
}

const scale = once(async (): Promise<Scale> => {
  const { cluster, stop } = await startCluster({ crds: 'today', netns: false })
  try {
    await furnish(cluster)
    const witness = await openWitness(cluster)
    const operator = await runOperator(cluster)
    await warmUp(cluster, witness, 'warm')
    await configure(cluster, 'few')
    await configure(cluster, 'many')
    const few = await witness.serve('few', FEW)
    const many = await witness.serve('many', MANY)
    const changeWrites = await writesOfChange(cluster, witness)
    const peakMiB = operator.peakMiB()
    await operator.kill()
    const restart = await restartAgainstList(cluster, witness)
    await witness.close()
    return { growth: many.ms / MANY / (few.ms / FEW), peakMiB, changeWrites, restart }
  } finally {
    await stop()
  }
})

/** Beyond the change itself and one IPSet that is served after it, so that the change has been looked at. */
async function writesOfChange(cluster: Cluster, witness: Witness): Promise<number> {
  const before = await writesOf(cluster)
  const ref = { ...netConfigs, namespace: 'many', name: 'netconfig' }
  await cluster.client.patch(ref, { metadata: { labels: { touched: 'yes' } } }, { type: 'merge' })
  await cluster.client.create(hostOf('many', MANY))
  await witness.whenReady(`many/edpm-compute-${MANY}`)
  const after = await writesOf(cluster)
  // The patch; the create, the Reservation and the status of the IPSet.
  return after.network - before.network - 4
}

/** From the Lease acquired to the first IPSet served, against a plain list of the IPSets by the same client. */
async function restartAgainstList(cluster: Cluster, witness: Witness): Promise<number> {
  const waiting = hostOf('many', MANY + 1)
  const listed: number[] = []
  for (let round = 0; round < 3; round += 1) {
    const began = performance.now()
    await cluster.client.list(ipSets, { namespace: 'many' })
    listed.push(performance.now() - began)
  }
  // Webhooks have nobody behind them now: this one comes before they are asked again.
  const operator = await runOperator(cluster)
  await cluster.client.create(waiting)
  const began = await operator.says('became leader')
  await witness.whenReady(`many/${waiting.metadata.name}`)
  const took = Date.now() - began
  await operator.kill()
  return took / (listed.toSorted((a, b) => a - b)[1] ?? Number.NaN)
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN
}

export const figures: readonly Figure[] = [
  {
    // Throughput against infra-operator's, 1,000 IPSets each.
    name: 'ipam.peer',
    unit: 'x',
    target: { op: '>=', value: 20 },
    measure: async () => (await speed()).peerMs / (await speed()).oursMs,
  },
  {
    // Time for 1,000 IPSets against that of 3,000 bare creates.
    name: 'ipam.bare',
    unit: 'x',
    target: { op: '<=', value: 2 },
    measure: async () => (await speed()).oursMs / (await speed()).bareMs,
  },
  {
    // Ledger included, as the API server counts them.
    name: 'ipam.writes',
    unit: 'writes per IPSet',
    target: { op: '<=', value: 3 },
    measure: async () => (await speed()).writes,
  },
  {
    // From the event to Ready, 1,000 at once.
    name: 'ipam.p99',
    unit: 'ms',
    measure: async () => (await speed()).p99Ms,
  },
  {
    // The cost of one of 10,000 against that of one of 1,000.
    name: 'ipam.growth',
    unit: 'x',
    target: { op: '<=', value: 1.3 },
    measure: async () => (await scale()).growth,
  },
  {
    name: 'ipam.memory',
    unit: 'MiB',
    target: { op: '<=', value: 400 },
    measure: async () => (await scale()).peakMiB,
  },
  {
    // A change of the NetConfig from which nothing follows, with 10,000 IPSets.
    name: 'ipam.change',
    unit: 'writes',
    target: { op: '<=', value: 0 },
    measure: async () => (await scale()).changeWrites,
  },
  {
    // From the Lease acquired to the first IPSet served, against a list of all 10,000.
    name: 'ipam.restart',
    unit: 'x',
    target: { op: '<=', value: 3 },
    measure: async () => (await scale()).restart,
  },
]
