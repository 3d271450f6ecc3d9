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
import { systemClock } from '../src/clock/clock.ts'
import { type Cluster, startCluster } from '../test/cluster.ts'
import { startInfraOperator } from '../test/real/ipam/infra-operator.ts'
import { writesOf } from '../test/real/ipam/write-counts.ts'
import type { Figure } from '../tools/figure.ts'
import { median, once } from '../tools/measure.ts'
import {
  configure,
  furnish,
  hostOf,
  type OperatorProcess,
  openWitness,
  runOperator,
  sixNetworks,
  type Witness,
} from './ipam-setup.ts'

const FEW = 1_000
const MANY = 10_000
/** Enough that caches are filled and what is run often is compiled. */
const BEFORE = 100
/** How the operator ends, one life after the other: so often each, that a median can be taken. */
const RESTARTS = ['kill', 'kill', 'stop', 'stop', 'stop', 'kill'] as const

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
    const peer = await startInfraOperator(cluster, path.join(folder, 'infra-operator.log'))
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
  readonly peakMB: number
  readonly changeWrites: number
  readonly afterKill: number
  readonly afterStop: number
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
    const changeWrites = await writesOfChange(cluster, operator)
    const peaks = [operator.peakBytes()]
    await operator.kill()
    const restarts = await restartsAgainstList(cluster, witness, (peak) => void peaks.push(peak))
    await witness.close()
    return {
      growth: many.ms / MANY / (few.ms / FEW),
      peakMB: Math.max(...peaks) / 1e6,
      changeWrites,
      ...restarts,
    }
  } finally {
    await stop()
  }
})

/** Of all kinds, beyond the change itself, once every IPSet has been looked at because of it. */
async function writesOfChange(cluster: Cluster, operator: OperatorProcess): Promise<number> {
  const looks = await operator.looks()
  const before = await writesOf(cluster)
  const ref = { ...netConfigs, namespace: 'many', name: 'netconfig' }
  await cluster.client.patch(ref, { spec: sixNetworks }, { type: 'merge' })
  while ((await operator.looks()) < looks + MANY) await systemClock.sleep(100)
  const after = await writesOf(cluster)
  return after.network + after.ledger - before.network - before.ledger - 1
}

/**
 * From the Lease acquired to the first new IPSet served, against a plain list of the IPSets by the same client.
 *
 * After a kill the Lease must run out first, and the caches fill meanwhile; after a stop it is free, and everything is
 * read after it was acquired.
 */
async function restartsAgainstList(
  cluster: Cluster,
  witness: Witness,
  peak: (bytes: number) => void,
): Promise<Pick<Scale, 'afterKill' | 'afterStop'>> {
  const listed: number[] = []
  const took = { kill: [] as number[], stop: [] as number[] }
  let serial = MANY
  let ended: (typeof RESTARTS)[number] = 'kill'
  for (const end of RESTARTS) {
    const began = performance.now()
    await cluster.client.list(ipSets, { namespace: 'many' })
    listed.push(performance.now() - began)
    const operator = await runOperator(cluster)
    const acquired = await operator.says('became leader')
    const newcomer = hostOf('many', serial)
    serial += 1
    await cluster.client.create(newcomer)
    await witness.whenReady(`many/${newcomer.metadata.name}`)
    took[ended].push(Date.now() - acquired)
    peak(operator.peakBytes())
    await operator[end]()
    ended = end
  }
  const plain = median(listed)
  console.error(
    `# a list of ${MANY} IPSets: ${listed.map(Math.round).join(', ')} ms; ` +
      `serving again after a kill: ${took.kill.join(', ')} ms, after a stop: ${took.stop.join(', ')} ms`,
  )
  return { afterKill: median(took.kill) / plain, afterStop: median(took.stop) / plain }
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
    // The most that the operator had with 10,000, at work and after restarts.
    name: 'ipam.memory',
    unit: 'MB',
    target: { op: '<=', value: 400 },
    measure: async () => (await scale()).peakMB,
  },
  {
    // A change of the NetConfig from which nothing follows, with 10,000 IPSets.
    name: 'ipam.change',
    unit: 'writes',
    target: { op: '<=', value: 0 },
    measure: async () => (await scale()).changeWrites,
  },
  {
    // From the Lease acquired to the first new IPSet served, against a list of all 10,000. After a kill.
    name: 'ipam.restart',
    unit: 'x',
    target: { op: '<=', value: 3 },
    measure: async () => (await scale()).afterKill,
  },
  {
    // The same after a stop: nothing was read before the Lease was acquired.
    name: 'ipam.cold-restart',
    unit: 'x',
    target: { op: '<=', value: 3 },
    measure: async () => (await scale()).afterStop,
  },
]
