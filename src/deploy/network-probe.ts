/**
 * Probes networks: starts a pod on every network and node, runs its tasks, judges the results, and removes the pods.
 *
 * Tasks and their meaning are in `verify/probe`, which is pure.
 */
import type { KubeObject } from '../api/object.ts'
import { isManagedByStackloom } from '../api/ownership.ts'
import { getList, getString } from '../api/raw-object.ts'
import type { Clock } from '../clock/clock.ts'
import { objectInTheWay } from '../errors/common.ts'
import { failure, formatError } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Plan } from '../plan/plan.ts'
import {
  isBridgeProbe,
  PROBE_COMMAND,
  PROBE_LABEL,
  type ProbeSettings,
  probeGateways,
  renderProbe,
} from '../render/probe-pods.ts'
import { probeLeftover } from '../verify/findings/probe-findings.ts'
import { CHECK_PROBE_PODS, evaluateProbes, type FailedProbe } from '../verify/probe/probe-results.ts'
import { formatPodLocation, type ProbePod, probeTasks } from '../verify/probe/probe-tasks.ts'
import type { CheckResult } from '../verify/verify.ts'
import { FIELD_MANAGER } from './object-changes.ts'
import { type AskedProbe, repeatVips, runTasks } from './run-probes.ts'

export interface ProbeDeps {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'list' | 'delete'>
  /** Runs a command in a pod and returns its output. */
  readonly ask: (
    pod: { readonly namespace: string; readonly name: string },
    command: readonly string[],
  ) => Promise<string>
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  readonly stop: AbortSignal
  /** Prints progress. */
  readonly say: (text: string) => void
  readonly timing?: ProbeTiming
}

export interface ProbeTiming {
  /** How long a pod may take to start. */
  readonly startMs: number
  readonly pollMs: number
  /** How long speakers have to agree before a VIP is asked for again. */
  readonly repeatMs: number
}

const defaultTiming: ProbeTiming = { startMs: 120_000, pollMs: 1_000, repeatMs: 5_000 }
/** Tasks per exec call: they are part of its URL. */
const TASKS_PER_CALL = 120
const MAX_PODS = 12
const VIP_REPEATS = 3

export interface ProbeOutcome {
  readonly results: readonly CheckResult[]
  readonly findings: readonly Finding[]
}

export async function probeNetworks(plan: Plan, settings: ProbeSettings, deps: ProbeDeps): Promise<ProbeOutcome> {
  const objects = plan.clouds.flatMap((cloud) => renderProbe(plan, cloud, settings))
  /** Only these are removed. */
  const applied: KubeObject[] = []
  let results: readonly CheckResult[] = []
  try {
    for (const object of objects) {
      deps.stop.throwIfAborted()
      await refuseForeign(object, deps)
      // An apply that fails may have been stored: then it is removed by its name.
      applied.push(object)
      applied[applied.length - 1] = await deps.client.apply(object, { fieldManager: FIELD_MANAGER, signal: deps.stop })
    }
    results = await runProbes(plan, await waitForProbes(plan, objects, deps), deps)
  } catch (thrown) {
    // The pods are removed after an error, too; what could not be removed is printed before the error.
    const leftovers = await removeProbes(applied, deps)
    if (leftovers.length > 0) deps.say(leftovers.map(({ message }) => `${message}\n`).join(''))
    throw thrown
  }
  return { results, findings: await removeProbes(applied, deps) }
}

/** An object under this name that is not a probe is left alone. */
async function refuseForeign(object: KubeObject, { client, stop }: ProbeDeps): Promise<void> {
  const { name, namespace = '' } = object.metadata
  const { apiVersion, kind } = object
  const live = await client.get({ apiVersion, kind, namespace, name }, { signal: stop })
  if (live && !isManagedByStackloom(live)) {
    throw failure(objectInTheWay, { kind, namespace, name, owner: 'Stackloom did not create it' }, { exitCode: 1 })
  }
}

/** Waits until every pod runs with its address, or until the time to start is over. */
async function waitForProbes(
  plan: Plan,
  objects: readonly KubeObject[],
  { client, clock, stop, say, timing = defaultTiming }: ProbeDeps,
): Promise<PlacedProbes> {
  const started = clock.elapsed()
  const kind = { apiVersion: 'v1', kind: 'Pod' }
  for (;;) {
    stop.throwIfAborted()
    const lists = await Promise.all(
      plan.clouds.map(({ namespace }) => client.list(kind, { namespace, labelSelector: PROBE_LABEL, signal: stop })),
    )
    const live = lists.flatMap(({ items }) => items)
    const placed = placeProbes(plan, objects, live)
    if (placed.missing.length === 0 || clock.elapsed() - started >= timing.startMs) return placed
    say(`${placed.pods.length} of ${placed.pods.length + placed.missing.length} probes have their address\n`)
    await clock.sleep(timing.pollMs, stop)
  }
}

async function runProbes(
  plan: Plan,
  { pods, missing }: PlacedProbes,
  deps: ProbeDeps,
): Promise<readonly CheckResult[]> {
  const runs: AskedProbe[] = []
  const failed: FailedProbe[] = [...missing]
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < pods.length; index = next++) {
      deps.stop.throwIfAborted()
      const pod = pods[index] as ProbePod
      try {
        runs.push(await runProbe(plan, pod, pods, deps))
      } catch (thrown) {
        deps.stop.throwIfAborted()
        failed.push({
          cloud: pod.cloud,
          from: formatPodLocation(pod),
          reason: formatError(thrown),
          remedy: CHECK_PROBE_PODS,
        })
      }
    }
  }
  deps.say(`asking ${pods.length} probes\n`)
  await Promise.all(Array.from({ length: Math.min(MAX_PODS, pods.length) }, worker))
  const { repeatMs } = deps.timing ?? defaultTiming
  const settled = await repeatVips(runs, { count: VIP_REPEATS, pause: () => deps.clock.sleep(repeatMs, deps.stop) })
  deps.stop.throwIfAborted()
  return evaluateProbes(plan, settled, failed)
}

function runProbe(plan: Plan, pod: ProbePod, pods: readonly ProbePod[], { ask }: ProbeDeps): Promise<AskedProbe> {
  return runTasks(pod, probeTasks(plan, pod, pods), async (words) => {
    const outputs: string[] = []
    for (let start = 0; start < words.length; start += TASKS_PER_CALL)
      outputs.push(await ask(pod, [...PROBE_COMMAND, ...words.slice(start, start + TASKS_PER_CALL)]))
    return outputs.join('\n')
  })
}

/** Ignores the stop signal: after Ctrl-C the pods must be removed as well. */
async function removeProbes(objects: readonly KubeObject[], { client }: ProbeDeps): Promise<readonly Finding[]> {
  const reasons = new Map<string, string>()
  for (const { apiVersion, kind, metadata } of objects.toReversed()) {
    const { name, namespace = '', uid } = metadata
    try {
      await client.delete(
        { apiVersion, kind, name, namespace },
        { ...(uid !== undefined && { preconditions: { uid } }) },
      )
    } catch (thrown) {
      reasons.set(namespace, formatError(thrown))
    }
  }
  return [...reasons].map(([namespace, reason]) => finding(probeLeftover, { namespace, reason }))
}

const NETWORK_STATUS = 'k8s.v1.cni.cncf.io/network-status'

export interface PlacedProbes {
  /** Pods that run and have an address on their network. */
  readonly pods: readonly ProbePod[]
  readonly missing: readonly FailedProbe[]
}

/** Pure. */
function placeProbes(plan: Plan, objects: readonly KubeObject[], live: readonly KubeObject[]): PlacedProbes {
  const byName = new Map(live.map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]))
  const pods: ProbePod[] = []
  const missing: FailedProbe[] = []
  for (const pod of objects.filter(({ kind }) => kind === 'Pod')) {
    const { name, namespace = '', labels = {} } = pod.metadata
    const cloud = plan.clouds.find((planned) => planned.namespace === namespace)?.name ?? ''
    const network = labels['stackloom.dev/network'] ?? ''
    const node = getString(pod, 'spec', 'nodeSelector', 'kubernetes.io/hostname') ?? ''
    const found = byName.get(`${namespace}/${name}`)
    const addresses = found ? attachmentAddresses(found, `${namespace}/${network}`) : []
    const gateways = probeGateways(pod)
    const probe: ProbePod = { cloud, network, node, namespace, name, addresses, gateways }
    const isRunning = getString(found, 'status', 'phase') === 'Running'
    if (isRunning && (addresses.length > 0 || isBridgeProbe(pod))) pods.push(probe)
    else missing.push({ cloud, from: formatPodLocation(probe), reason: pendingReason(found), remedy: CHECK_PROBE_PODS })
  }
  return { pods, missing }
}

function attachmentAddresses(pod: KubeObject, attachment: string): readonly string[] {
  try {
    const status = JSON.parse(pod.metadata.annotations?.[NETWORK_STATUS] ?? '[]') as unknown
    const networks = Array.isArray(status) ? status : []
    const found = networks.find((network) => getString(network, 'name') === attachment)
    return getList(found, 'ips').map(String)
  } catch {
    return []
  }
}

function pendingReason(pod: KubeObject | undefined): string {
  if (!pod) return 'there is no such pod'
  const phase = getString(pod, 'status', 'phase') ?? 'Pending'
  if (phase === 'Running') return 'it has no address on its network'
  const waiting = getList(pod, 'status', 'containerStatuses')
    .map(
      (status) => getString(status, 'state', 'waiting', 'message') ?? getString(status, 'state', 'waiting', 'reason'),
    )
    .find((message) => message !== undefined)
  const condition = getList(pod, 'status', 'conditions').find((entry) => getString(entry, 'status') === 'False')
  const message = waiting ?? getString(condition, 'message')
  return `the pod is ${phase}${message === undefined ? '' : `: ${message}`}`
}
