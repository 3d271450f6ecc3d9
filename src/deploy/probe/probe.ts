/**
 * The network probe: pods on every network and node are started, asked, judged, and removed whatever happens.
 *
 * Which questions there are and what the answers mean is `verify/probe`, which is pure.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../clock/clock.ts'
import { reasonOf } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { probeLeft } from '../../errors/probe.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Plan } from '../../plan/plan.ts'
import { PROBE, PROBE_COMMAND, type ProbeSettings, renderProbe } from '../../render/probe.ts'
import { judgeProbe, type Probing, type Unprobed } from '../../verify/probe/judge.ts'
import { placeOfPod, probeTasks, wordOf } from '../../verify/probe/tasks.ts'
import type { CheckResult } from '../../verify/verify.ts'
import { FIELD_MANAGER } from '../changes.ts'
import { type Placed, type Probe, placeProbes } from './placed.ts'

export interface ProbeWorld {
  readonly client: Pick<KubeClient, 'apply' | 'list' | 'delete'>
  /** Runs a command in a pod and gives what it printed. */
  readonly ask: (
    pod: { readonly namespace: string; readonly name: string },
    command: readonly string[],
  ) => Promise<string>
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  readonly stop: AbortSignal
  /** For people who wait. */
  readonly say: (text: string) => void
  readonly patience?: Patience
}

export interface Patience {
  /** How long a pod may take to start. */
  readonly startMs: number
  readonly lookMs: number
}

const usual: Patience = { startMs: 120_000, lookMs: 1_000 }
/** Questions in one call: they travel in its address. */
const AT_A_TIME = 120
const PODS_AT_ONCE = 12

export interface Probed {
  readonly results: readonly CheckResult[]
  readonly findings: readonly Finding[]
}

export async function probeNetworks(plan: Plan, settings: ProbeSettings, world: ProbeWorld): Promise<Probed> {
  const objects = plan.clouds.flatMap((cloud) => renderProbe(plan, cloud, settings))
  const namespaces = plan.clouds.map(({ namespace }) => namespace)
  let results: readonly CheckResult[] = []
  try {
    for (const object of objects) {
      world.stop.throwIfAborted()
      await world.client.apply(object, { fieldManager: FIELD_MANAGER, signal: world.stop })
    }
    const placed = await started(plan, objects, namespaces, world)
    results = await questioned(plan, placed, world)
  } catch (thrown) {
    // Whatever happened, nothing of it may stay; what could not be removed is told with the first trouble.
    const left = await removed(objects, world)
    if (left.length > 0) world.say(left.map(({ message }) => `${message}\n`).join(''))
    throw thrown
  }
  return { results, findings: await removed(objects, world) }
}

/** Waits until every pod runs with its address, or until those that do not have had their time. */
async function started(
  plan: Plan,
  objects: readonly KubeObject[],
  namespaces: readonly string[],
  { client, clock, stop, say, patience = usual }: ProbeWorld,
): Promise<Placed> {
  const begun = clock.elapsed()
  for (;;) {
    stop.throwIfAborted()
    const live = await Promise.all(
      namespaces.map((namespace) =>
        client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace, labelSelector: PROBE, signal: stop }),
      ),
    )
    const placed = placeProbes(
      plan,
      objects,
      live.flatMap(({ items }) => items),
    )
    if (placed.missing.length === 0 || clock.elapsed() - begun >= patience.startMs) return placed
    say(`${placed.pods.length} of ${placed.pods.length + placed.missing.length} probes have their address\n`)
    await clock.sleep(patience.lookMs, stop)
  }
}

async function questioned(
  plan: Plan,
  { pods, missing }: Placed,
  world: ProbeWorld,
): Promise<readonly CheckResult[]> {
  const probings: Probing[] = []
  const unprobed: Unprobed[] = [...missing]
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < pods.length; at = next++) {
      world.stop.throwIfAborted()
      const pod = pods[at] as Probe
      try {
        probings.push(await asked(plan, pod, pods, world))
      } catch (thrown) {
        world.stop.throwIfAborted()
        unprobed.push({ cloud: pod.cloud, from: placeOfPod(pod), reason: reasonOf(thrown) })
      }
    }
  }
  world.say(`asking ${pods.length} probes\n`)
  await Promise.all(Array.from({ length: Math.min(PODS_AT_ONCE, pods.length) }, worker))
  return judgeProbe(plan, probings, unprobed)
}

async function asked(plan: Plan, pod: Probe, pods: readonly Probe[], { ask }: ProbeWorld): Promise<Probing> {
  const tasks = probeTasks(plan, pod, pods)
  const words = [...new Set(tasks.map(wordOf))]
  const outputs: string[] = []
  for (let at = 0; at < words.length; at += AT_A_TIME)
    outputs.push(await ask(pod, [...PROBE_COMMAND, ...words.slice(at, at + AT_A_TIME)]))
  return { pod, tasks, output: outputs.join('\n') }
}

/** Not stopped by Ctrl-C: that is exactly when it is needed. */
async function removed(objects: readonly KubeObject[], { client }: ProbeWorld): Promise<readonly Finding[]> {
  const left = new Map<string, string>()
  for (const { apiVersion, kind, metadata } of objects.toReversed()) {
    const { name, namespace = '' } = metadata
    try {
      await client.delete({ apiVersion, kind, name, namespace })
    } catch (thrown) {
      left.set(namespace, reasonOf(thrown))
    }
  }
  return [...left].map(([namespace, reason]) => finding(probeLeft, { namespace, reason }))
}
