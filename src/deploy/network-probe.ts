/**
 * The network probe: pods on every network and node are started, asked, judged, and removed whatever happens.
 *
 * Which questions there are and what the answers mean is `verify/probe`, which is pure.
 */
import type { KubeObject } from '../api/object.ts'
import type { Clock } from '../clock/clock.ts'
import { formatError } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Plan } from '../plan/plan.ts'
import { PROBE_COMMAND, PROBE_LABEL, type ProbeSettings, renderProbe } from '../render/probe-pods.ts'
import { probeLeftover } from '../verify/findings/probe-findings.ts'
import { evaluateProbes, type FailedProbe, type ProbeRun } from '../verify/probe/probe-results.ts'
import { encodeTask, formatPodLocation, probeTasks } from '../verify/probe/probe-tasks.ts'
import type { CheckResult } from '../verify/verify.ts'
import { FIELD_MANAGER } from './object-changes.ts'
import { type PlacedProbes, type Probe, placeProbes } from './probe/placed.ts'

export interface ProbeDeps {
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
  readonly patience?: ProbeTiming
}

export interface ProbeTiming {
  /** How long a pod may take to start. */
  readonly startMs: number
  readonly lookMs: number
}

const defaultTiming: ProbeTiming = { startMs: 120_000, lookMs: 1_000 }
/** Questions in one call: they travel in its address. */
const AT_A_TIME = 120
const PODS_AT_ONCE = 12

export interface ProbeOutcome {
  readonly results: readonly CheckResult[]
  readonly findings: readonly Finding[]
}

export async function probeNetworks(plan: Plan, settings: ProbeSettings, world: ProbeDeps): Promise<ProbeOutcome> {
  const objects = plan.clouds.flatMap((cloud) => renderProbe(plan, cloud, settings))
  const namespaces = plan.clouds.map(({ namespace }) => namespace)
  let results: readonly CheckResult[] = []
  try {
    for (const object of objects) {
      world.stop.throwIfAborted()
      await world.client.apply(object, { fieldManager: FIELD_MANAGER, signal: world.stop })
    }
    const placed = await waitForProbes(plan, objects, namespaces, world)
    results = await runProbes(plan, placed, world)
  } catch (thrown) {
    // Whatever happened, nothing of it may stay; what could not be removed is told with the first trouble.
    const left = await removeProbes(objects, world)
    if (left.length > 0) world.say(left.map(({ message }) => `${message}\n`).join(''))
    throw thrown
  }
  return { results, findings: await removeProbes(objects, world) }
}

/** Waits until every pod runs with its address, or until those that do not have had their time. */
async function waitForProbes(
  plan: Plan,
  objects: readonly KubeObject[],
  namespaces: readonly string[],
  { client, clock, stop, say, patience = defaultTiming }: ProbeDeps,
): Promise<PlacedProbes> {
  const begun = clock.elapsed()
  for (;;) {
    stop.throwIfAborted()
    const live = await Promise.all(
      namespaces.map((namespace) =>
        client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace, labelSelector: PROBE_LABEL, signal: stop }),
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

async function runProbes(
  plan: Plan,
  { pods, missing }: PlacedProbes,
  world: ProbeDeps,
): Promise<readonly CheckResult[]> {
  const probings: ProbeRun[] = []
  const unprobed: FailedProbe[] = [...missing]
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < pods.length; at = next++) {
      world.stop.throwIfAborted()
      const pod = pods[at] as Probe
      try {
        probings.push(await runProbe(plan, pod, pods, world))
      } catch (thrown) {
        world.stop.throwIfAborted()
        unprobed.push({ cloud: pod.cloud, from: formatPodLocation(pod), reason: formatError(thrown) })
      }
    }
  }
  world.say(`asking ${pods.length} probes\n`)
  await Promise.all(Array.from({ length: Math.min(PODS_AT_ONCE, pods.length) }, worker))
  return evaluateProbes(plan, probings, unprobed)
}

async function runProbe(plan: Plan, pod: Probe, pods: readonly Probe[], { ask }: ProbeDeps): Promise<ProbeRun> {
  const tasks = probeTasks(plan, pod, pods)
  const words = [...new Set(tasks.map(encodeTask))]
  const outputs: string[] = []
  for (let at = 0; at < words.length; at += AT_A_TIME)
    outputs.push(await ask(pod, [...PROBE_COMMAND, ...words.slice(at, at + AT_A_TIME)]))
  return { pod, tasks, output: outputs.join('\n') }
}

/** Not stopped by Ctrl-C: that is exactly when it is needed. */
async function removeProbes(objects: readonly KubeObject[], { client }: ProbeDeps): Promise<readonly Finding[]> {
  const left = new Map<string, string>()
  for (const { apiVersion, kind, metadata } of objects.toReversed()) {
    const { name, namespace = '' } = metadata
    try {
      await client.delete({ apiVersion, kind, name, namespace })
    } catch (thrown) {
      left.set(namespace, formatError(thrown))
    }
  }
  return [...left].map(([namespace, reason]) => finding(probeLeftover, { namespace, reason }))
}
