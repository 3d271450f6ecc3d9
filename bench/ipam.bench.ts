/**
 * Measures IPAM: 1,000 IPSets on five networks from created to Ready, with the real infra-operator, with ours, and the
 * bare limit of the API server (3,000 creates); then 10,000 IPSets, a change of the NetConfig, and a restart; ten IPSets a
 * second over five minutes; and 100,000 IPSets.
 *
 * infra-operator's client is throttled at 20 requests a second as it is shipped, which is most of its time. Everything
 * uses loopback without a network namespace, and each has served some IPSets before it is timed.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import path from 'node:path'
import { type IpSet, ipSets, reservations } from '../src/api/ipset.ts'
import { netConfigs } from '../src/api/netconfig.ts'
import { systemClock } from '../src/clock/clock.ts'
import { CONFIGURATION_NAME } from '../src/webhooks/webhook-configuration.ts'
import { type Cluster, startCluster } from '../test/cluster.ts'
import { startInfraOperator } from '../test/real/ipam/infra-operator.ts'
import { writesOf } from '../test/real/ipam/write-counts.ts'
import { canMeasureEventLoop } from '../tools/event-loop.ts'
import type { Figure, Measured } from '../tools/figure.ts'
import { median, once } from '../tools/measure.ts'
import { formatCpu, measureCpu } from './cpu-time.ts'
import {
  buildIpSet,
  configure,
  installCrds,
  type Observer,
  type OperatorProcess,
  openObserver,
  runOperator,
  sixNetworks,
} from './ipam-setup.ts'

const FEW = 1_000
const MANY = 10_000
/** Namespaces with MANY IPSets each: 100,000 together unless fewer are asked for. */
const CROWD = Number(process.env['STACKLOOM_CROWD'] ?? 10)
/** IPSets a second, and for how many seconds. */
const PACE = { perSecond: 10, seconds: 300 }
/** Enough to fill caches and to compile hot code. */
const BEFORE = 100
/** How the operator ends before each restart: often enough for a median. */
const RESTARTS = ['kill', 'kill', 'stop', 'stop', 'stop', 'kill'] as const

interface Speed {
  readonly bareMs: number
  /** The same writes as the operator's, without it. */
  readonly floorMs: number
  readonly peerMs: number
  readonly oursMs: number
  readonly writes: number
  readonly p99Ms: number
}

const speed = once(async (): Promise<Speed> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  const { cluster, stop } = await startCluster({ crds: '2023', netns: false })
  try {
    await installCrds(cluster)
    const servers = { 'API server and etcd': cluster.pid }
    const bareBefore = await bareLimit(cluster, 'bare-before', servers)
    const observer = await openObserver(cluster)
    await configure(cluster, 'peer')
    const peer = await startInfraOperator(cluster, path.join(folder, 'infra-operator.log'))
    await warmUp(cluster, observer, 'warm-peer')
    const theirs = await observer.serve('peer', FEW)
    await peer.stop()
    const operator = await runOperator(cluster)
    await configure(cluster, 'ours')
    await warmUp(cluster, observer, 'warm-ours')
    const before = await writesOf(cluster)
    const readCpu = measureCpu({ ...servers, operator: operator.pid })
    const ours = await observer.serve('ours', FEW)
    console.error(`# CPU time, ${FEW} IPSets: ${formatCpu(readCpu())}`)
    const after = await writesOf(cluster)
    await operator.kill()
    await observer.close()
    const floorMs = await sameWrites(cluster, servers)
    // Measured before and after the others, so that a busy machine affects both.
    const bareMs = (bareBefore + (await bareLimit(cluster, 'bare-after', servers))) / 2
    const seconds = (ms: number): string => (ms / 1000).toFixed(1)
    console.error(
      `# ${FEW} IPSets: infra-operator ${seconds(theirs.ms)} s (its client is throttled at 20 requests a second), ` +
        `ours ${seconds(ours.ms)} s; ${3 * FEW} bare creates: ${seconds(bareMs)} s`,
    )
    const written = after.network + after.ledger - before.network - before.ledger
    return {
      bareMs,
      floorMs,
      peerMs: theirs.ms,
      oursMs: ours.ms,
      // Without the creates of the IPSets.
      writes: written / FEW - 1,
      p99Ms: percentile(ours.each, 0.99),
    }
  } finally {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Lets the operator take over what exists and serve some IPSets before anything is timed. */
async function warmUp(cluster: Cluster, observer: Observer, namespace: string): Promise<void> {
  await configure(cluster, namespace)
  await observer.serve(namespace, BEFORE)
}

/** Creates three objects of the size of a Reservation per IPSet. */
async function bareLimit(
  cluster: Cluster,
  namespace: string,
  processes: Readonly<Record<string, number>>,
): Promise<number> {
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await Promise.all(Array.from({ length: 3 * BEFORE }, (_, n) => createBare(cluster, namespace, n)))
  const readCpu = measureCpu(processes)
  const began = performance.now()
  await Promise.all(Array.from({ length: 3 * FEW }, (_, n) => createBare(cluster, namespace, 3 * BEFORE + n)))
  const ms = performance.now() - began
  console.error(`# CPU time, ${3 * FEW} bare creates: ${formatCpu(readCpu())}`)
  return ms
}

/** Writes what a user and the operator write for each IPSet: no webhook, no ledger, no watch. */
async function sameWrites(cluster: Cluster, processes: Readonly<Record<string, number>>): Promise<number> {
  const { client } = cluster
  const namespace = 'floor'
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
    await client.delete({ apiVersion: 'admissionregistration.k8s.io/v1', kind, name: CONFIGURATION_NAME })
  }
  const [served] = (await client.list(ipSets, { namespace: 'ours', limit: 1 })).items as readonly IpSet[]
  const write = async (n: number): Promise<void> => {
    const created = await client.create(buildIpSet(namespace, n))
    await createBare(cluster, namespace, n)
    await client.update({ ...created, status: served?.status }, { subresource: 'status' })
  }
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  // The API server notices within a second that the webhooks are gone.
  for (const end = performance.now() + 30_000; performance.now() < end; await systemClock.sleep(100)) {
    const isAccepted = await write(-1).then(
      () => true,
      () => false,
    )
    if (isAccepted) break
  }
  await Promise.all(Array.from({ length: BEFORE }, (_, n) => write(n)))
  const readCpu = measureCpu(processes)
  const began = performance.now()
  await Promise.all(Array.from({ length: FEW }, (_, n) => write(BEFORE + n)))
  const ms = performance.now() - began
  console.error(`# CPU time, the same writes by a bare client: ${formatCpu(readCpu())}`)
  return ms
}

/** An object of the size of a Reservation, with an owner, like the operator's, so that no webhook is called for it. */
function createBare({ client }: Cluster, namespace: string, n: number): Promise<unknown> {
  const owner = { apiVersion: 'v1', kind: 'Namespace', name: namespace, uid: namespace }
  const entries = Object.entries(buildIpSet(namespace, n).spec.networks).map(([index, { name }]) => [
    name,
    { network: name, subnet: 'subnet1', address: `10.${index}.0.1` },
  ])
  return client.create({
    ...reservations,
    metadata: { name: `bare-${n}`, namespace, ownerReferences: [owner] },
    spec: { ipSetRef: { name: `bare-${n}` }, reservation: Object.fromEntries(entries) },
  })
}

interface Steady {
  readonly p99Ms: number
  readonly bareP99Ms: number
  /** Of three bare creates, one after the other: an address, its Reservation and the status are written in this order. */
  readonly inRowP99Ms: number
}

/** The time from the event to Ready at a steady pace, and that of bare creates between them. */
const steady = once(async (): Promise<Steady> => {
  const { cluster, stop } = await startCluster({ crds: 'today', netns: false })
  try {
    await installCrds(cluster)
    const observer = await openObserver(cluster)
    const operator = await runOperator(cluster)
    await warmUp(cluster, observer, 'warm')
    await configure(cluster, 'steady')
    const bare: number[] = []
    const inRow: number[] = []
    const served: Promise<unknown>[] = []
    const began = performance.now()
    for (let n = 0; n < PACE.perSecond * PACE.seconds; n += 1) {
      const due = began + (n * 1000) / PACE.perSecond
      await systemClock.sleep(Math.max(0, due - performance.now()))
      const host = buildIpSet('steady', n)
      served.push(cluster.client.create(host).then(() => observer.whenReady(`steady/${host.metadata.name}`)))
      // In the middle between two of them.
      await systemClock.sleep(Math.max(0, due + 500 / PACE.perSecond - performance.now()))
      const started = performance.now()
      await createBare(cluster, 'steady', 3 * n)
      bare.push(performance.now() - started)
      for (const next of [1, 2]) await createBare(cluster, 'steady', 3 * n + next)
      inRow.push(performance.now() - started)
    }
    await Promise.all(served)
    const each = observer.timesToReady('steady')
    await operator.kill()
    await observer.close()
    for (const [name, times] of Object.entries({
      'to Ready': each,
      'one bare create': bare,
      'three in a row': inRow,
    })) {
      const [middle, late] = [median(times), percentile(times, 0.99)].map((ms) => ms.toFixed(1))
      console.error(`# ${times.length} at ${PACE.perSecond} a second, ${name}: median ${middle} ms, p99 ${late} ms`)
    }
    return {
      p99Ms: percentile(each, 0.99),
      bareP99Ms: percentile(bare, 0.99),
      inRowP99Ms: percentile(inRow, 0.99),
    }
  } finally {
    await stop()
  }
})

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
    await installCrds(cluster)
    const observer = await openObserver(cluster)
    const operator = await runOperator(cluster)
    await warmUp(cluster, observer, 'warm')
    await configure(cluster, 'few')
    await configure(cluster, 'many')
    const few = await observer.serve('few', FEW)
    const many = await observer.serve('many', MANY)
    const changeWrites = await writesOfChange(cluster, operator)
    const peaks = [operator.peakBytes()]
    await operator.kill()
    const restarts = await restartsAgainstList(cluster, observer, (peak) => void peaks.push(peak), 'many')
    await observer.close()
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

/** 100,000 IPSets: the last ten thousand against the first, then the same as for ten thousand. */
const crowd = once(async (): Promise<Scale> => {
  // The sandbox's API server collects rarely and has 3 GB with 10,000 IPSets: with all of them it would fill the machine.
  process.env['GOMEMLIMIT'] = `${Math.floor(totalmem() / 3)}B`
  const { cluster, stop } = await startCluster({ crds: 'today', netns: false })
  try {
    await installCrds(cluster)
    const observer = await openObserver(cluster)
    const operator = await runOperator(cluster)
    await warmUp(cluster, observer, 'warm')
    const times: number[] = []
    for (const namespace of ['many', ...Array.from({ length: CROWD - 1 }, (_, index) => `more-${index}`)]) {
      await configure(cluster, namespace)
      const { ms, each } = await observer.serve(namespace, MANY)
      times.push(ms)
      const [seconds, late] = [ms, percentile(each, 0.99)].map((time) => (time / 1000).toFixed(1))
      const peak = Math.round(operator.peakBytes() / 1e6)
      console.error(`# ${times.length * MANY} IPSets: ${peak} MB, the last ${MANY} in ${seconds} s, p99 ${late} s`)
    }
    const changeWrites = await writesOfChange(cluster, operator)
    const peaks = [operator.peakBytes()]
    await operator.kill()
    const restarts = await restartsAgainstList(cluster, observer, (peak) => void peaks.push(peak), undefined)
    await observer.close()
    return {
      growth: (times.at(-1) ?? Number.NaN) / (times[0] ?? Number.NaN),
      peakMB: Math.max(...peaks) / 1e6,
      changeWrites,
      ...restarts,
    }
  } finally {
    await stop()
  }
})

/** It takes most of an hour, so that it is measured by name only. */
const byName =
  (measure: () => Promise<number>) =>
  async (selected: readonly string[]): Promise<Measured> =>
    selected.every((name) => name.startsWith('ipam.crowd'))
      ? measure()
      : { unavailable: 'it takes most of an hour: make bench ONLY=ipam.crowd' }

/** The longest turn of the operator's event loop while IPSets are created, and while all of them are reconciled again. */
const longestTurnMs = once(async (): Promise<number> => {
  const { cluster, stop } = await startCluster({ crds: 'today', netns: false })
  try {
    await installCrds(cluster)
    const observer = await openObserver(cluster)
    const operator = await runOperator(cluster)
    await warmUp(cluster, observer, 'warm')
    await configure(cluster, 'ours')
    await operator.meter.begin()
    await observer.serve('ours', FEW)
    const { longestMs: created } = await operator.meter.end()
    await operator.meter.begin()
    const ref = { ...netConfigs, namespace: 'ours', name: 'netconfig' }
    await cluster.client.patch(ref, { spec: sixNetworks }, { type: 'merge' })
    const { longestMs: changed } = await operator.meter.end()
    console.error(
      `# longest turn with ${FEW} IPSets: ${created.toFixed(1)} ms, after a change ${changed.toFixed(1)} ms`,
    )
    await operator.kill()
    await observer.close()
    return Math.max(created, changed)
  } finally {
    await stop()
  }
})

/** The writes beyond the change itself, once every IPSet is reconciled. */
async function writesOfChange(cluster: Cluster, operator: OperatorProcess): Promise<number> {
  const reconciles = await operator.reconciles()
  const before = await writesOf(cluster)
  const ref = { ...netConfigs, namespace: 'many', name: 'netconfig' }
  await cluster.client.patch(ref, { spec: sixNetworks }, { type: 'merge' })
  while ((await operator.reconciles()) < reconciles + MANY) await systemClock.sleep(100)
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
  observer: Observer,
  peak: (bytes: number) => void,
  /** Of the list; undefined for all. */
  namespace: string | undefined,
): Promise<Pick<Scale, 'afterKill' | 'afterStop'>> {
  const listed: number[] = []
  const took = { kill: [] as number[], stop: [] as number[] }
  let serial = MANY
  let many = 0
  let ended: (typeof RESTARTS)[number] = 'kill'
  for (const end of RESTARTS) {
    const began = performance.now()
    const { items } = await cluster.client.list(ipSets, namespace === undefined ? {} : { namespace })
    many = items.length
    listed.push(performance.now() - began)
    const operator = await runOperator(cluster)
    const acquired = await operator.waitForLog('became leader')
    const newcomer = buildIpSet('many', serial)
    serial += 1
    await cluster.client.create(newcomer)
    await observer.whenReady(`many/${newcomer.metadata.name}`)
    took[ended].push(Date.now() - acquired)
    peak(operator.peakBytes())
    await operator[end]()
    ended = end
  }
  const plain = median(listed)
  console.error(
    `# a list of ${many} IPSets: ${listed.map(Math.round).join(', ')} ms; ` +
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
    target: { op: '>=', value: 35 },
    measure: async () => (await speed()).peerMs / (await speed()).oursMs,
  },
  {
    // Time for 1,000 IPSets against that of 3,000 bare creates.
    name: 'ipam.bare',
    unit: 'x',
    target: { op: '<=', value: 1.25 },
    measure: async () => (await speed()).oursMs / (await speed()).bareMs,
  },
  {
    // What the API server takes for the same three writes per IPSet by a bare client, against 3,000 bare creates.
    name: 'ipam.floor',
    unit: 'x',
    measure: async () => (await speed()).floorMs / (await speed()).bareMs,
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
    target: { op: '<=', value: 1300 },
    measure: async () => (await speed()).p99Ms,
  },
  {
    // From the event to Ready, ten a second over five minutes, against bare creates; 99th percentiles.
    name: 'ipam.steady-p99',
    unit: 'x',
    target: { op: '<=', value: 2 },
    measure: async () => (await steady()).p99Ms / (await steady()).bareP99Ms,
  },
  {
    // What the API server takes for three writes in a row at that pace, against one.
    name: 'ipam.steady-floor',
    unit: 'x',
    measure: async () => (await steady()).inRowP99Ms / (await steady()).bareP99Ms,
  },
  {
    // CPU time that the operator takes before another request or event is handled, with 1,000 IPSets at once.
    name: 'ipam.event-loop',
    unit: 'ms',
    target: { op: '<=', value: 50 },
    measure: async () =>
      canMeasureEventLoop() ? longestTurnMs() : { unavailable: 'the kernel does not count the time of a thread' },
  },
  {
    // The cost per IPSet with 10,000 against that with 1,000.
    name: 'ipam.growth',
    unit: 'x',
    target: { op: '<=', value: 1.3 },
    measure: async () => (await scale()).growth,
  },
  {
    // The peak memory of the operator with 10,000 IPSets, including restarts.
    name: 'ipam.memory',
    unit: 'MB',
    target: { op: '<=', value: 250 },
    measure: async () => (await scale()).peakMB,
  },
  {
    // A NetConfig change without effect, with 10,000 IPSets.
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
  {
    // The last 10,000 of 100,000 IPSets against the first.
    name: 'ipam.crowd-growth',
    unit: 'x',
    target: { op: '<=', value: 1.3 },
    measure: byName(async () => (await crowd()).growth),
  },
  {
    name: 'ipam.crowd-memory',
    unit: 'MB',
    target: { op: '<=', value: 1500 },
    measure: byName(async () => (await crowd()).peakMB),
  },
  {
    name: 'ipam.crowd-restart',
    unit: 'x',
    target: { op: '<=', value: 3 },
    measure: byName(async () => (await crowd()).afterKill),
  },
  {
    name: 'ipam.crowd-cold-restart',
    unit: 'x',
    target: { op: '<=', value: 3 },
    measure: byName(async () => (await crowd()).afterStop),
  },
]
