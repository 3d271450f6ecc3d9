/** Runs the operator: starts the selected parts, serves webhooks and health, and works until it is stopped. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { Gauge } from 'prom-client'
import { type GroupVersionKind, type KubeObject, withoutManagedFields } from '../api/object.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { withSpec } from '../api/with-spec.ts'
import { systemClock } from '../clock/clock.ts'
import { bareMetalHosts } from '../dataplane/machines/bare-metal.ts'
import { failure } from '../errors/failure.ts'
import type { AdmissionHandler } from '../kube/admission.ts'
import type { Connection } from '../kube/connect.ts'
import { createEventRecorder } from '../kube/event-recorder.ts'
import { leadershipLost } from '../kube/findings/runtime.ts'
import { serveHealth } from '../kube/health-server.ts'
import type { Log } from '../kube/log.ts'
import { createMetrics } from '../kube/metrics.ts'
import { createRuntime } from '../kube/runtime.ts'
import { createTextSharing } from '../kube/text-sharing.ts'
import type { Webhook } from '../webhooks/webhook-configuration.ts'
import { checkPermissions } from './check-permissions.ts'
import type { OperatorOptions } from './options.ts'
import { type Rival, refuseInfraOperator, requireKinds, selectParts, watchInfraOperator } from './part-selection.ts'
import type { OperatorPart, PartContext } from './parts/part.ts'
import { parts } from './parts.ts'
import { LEASE_NAME } from './permissions.ts'
import { serveObserverMetrics, serveWebhooks } from './webhook-server.ts'

/** EndpointSlices and the rules of all nodes are updated in about a second; the kubelet kills after 30 s. */
const SHUTDOWN_DELAY_MS = 5_000

/** Resolves when the signal has fired. Lost leadership is a failure, after which the process must exit. */
export async function runOperator(
  connection: Connection,
  options: OperatorOptions,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const control = new AbortController()
  const delayMs = options.shutdownDelay ?? (options.webhookService === undefined ? 0 : SHUTDOWN_DELAY_MS)
  const abort = (): void => control.abort(signal.reason)
  let cancel = (): void => {}
  const stop = (): void => {
    if (delayMs === 0) return abort()
    log({ level: 'info', message: 'stopping after a delay, because the nodes still send connections', delayMs })
    cancel = systemClock.after(delayMs, abort)
  }
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  try {
    const { client } = connection
    const { parts: selected, skipped } = await selectParts(client, parts, options.parts, !options.observe)
    for (const { code, message } of skipped) log({ level: 'info', message: `left out: ${message}`, code })
    const program = options.observe ? observerProgram(selected) : controllerProgram(selected)
    await requireKinds(client, program.kinds)
    const signals = { control, closing: signal }
    if (options.observe) return await runProgram(connection, program, options, log, signals)
    await refuseInfraOperator(client, control.signal)
    const scope = { ...options, namespace: connection.namespace }
    await checkPermissions(client, selected, scope, log, control.signal)
    await runProgram(connection, program, options, log, signals)
  } finally {
    cancel()
    control.abort()
    signal.removeEventListener('abort', stop)
  }
}

/**
 * Reports an infra-operator that is started after this operator: both would assign the same addresses. In the log, as an
 * Event of its Deployment, and as a metric, because no request fails by it.
 */
function reportInfraOperator(
  client: Connection['client'],
  { metrics, record, log }: Pick<PartContext, 'metrics' | 'record'> & { readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const running = new Gauge({
    registers: [metrics.registry],
    name: 'stackloom_infra_operator_running',
    help: 'Whether an infra-operator assigns addresses in this cluster too (SL5102)',
  })
  running.set(0)
  const onChange = (rival: Rival | undefined): void => {
    running.set(rival ? 1 : 0)
    if (!rival) return log({ level: 'info', message: 'no infra-operator runs any more' })
    const { code, message, remedy } = rival.finding
    log({ level: 'error', message, code })
    const note = `${code}: ${message}. ${remedy}`
    record({ regarding: rival.deployment, type: 'Warning', reason: 'AddressConflict', action: 'Allocate', note })
  }
  return watchInfraOperator(client, { clock: systemClock, log, onChange }, signal)
}

/** The union of what the selected parts run and need. */
interface Program {
  readonly kinds: readonly GroupVersionKind[]
  readonly highCardinalityKinds: readonly GroupVersionKind[]
  readonly indexedKinds: readonly GroupVersionKind[]
  readonly start: (context: PartContext) => Readonly<Record<string, AdmissionHandler>>
  readonly webhooks: readonly Webhook[]
}

function controllerProgram(selected: readonly OperatorPart[]): Program {
  return {
    kinds: selected.flatMap((part) => part.kinds),
    highCardinalityKinds: selected.flatMap((part) => part.highCardinalityKinds ?? []),
    indexedKinds: selected.flatMap((part) => part.indexedKinds ?? []),
    start: (context) => Object.assign({}, ...selected.map((part) => part.start(context))),
    webhooks: selected.flatMap((part) => part.webhooks),
  }
}

function observerProgram(selected: readonly OperatorPart[]): Program {
  return {
    kinds: selected.flatMap((part) => part.observe?.kinds ?? []),
    highCardinalityKinds: selected.flatMap((part) => part.highCardinalityKinds ?? []),
    indexedKinds: [],
    start: (context) => {
      for (const part of selected) part.observe?.start(context)
      return {}
    },
    webhooks: [],
  }
}

/**
 * Drops the managed fields of high-cardinality kinds before they are cached, shares their equal texts, and adds a spec that
 * was left out.
 */
function createCacheTransform({
  highCardinalityKinds,
  indexedKinds,
}: Pick<Program, 'highCardinalityKinds' | 'indexedKinds'>): (object: KubeObject) => KubeObject {
  const many = new Set(highCardinalityKinds.map(formatGroupKind))
  const indexed = new Set(indexedKinds.map(formatGroupKind))
  const shareTexts = createTextSharing()
  return (object) => {
    const kind = formatGroupKind(object)
    if (!many.has(kind)) return withSpec(object)
    const trimmed = withoutManagedFields(object)
    return withSpec(indexed.has(kind) ? trimmed : shareTexts(trimmed))
  }
}

/** Machines are read where an administrator has allowed it, the other kinds in the served namespaces. */
function createNamespacesFor({
  namespaces,
  machineNamespaces = [],
}: OperatorOptions): (kind: GroupVersionKind) => readonly string[] | undefined {
  return ({ kind }) =>
    namespaces && kind === bareMetalHosts.kind ? [...new Set([...namespaces, ...machineNamespaces])] : namespaces
}

async function runProgram(
  { client, namespace, transport }: Connection,
  program: Program,
  options: OperatorOptions,
  log: Log,
  { control, closing }: { readonly control: AbortController; readonly closing: AbortSignal },
): Promise<void> {
  const { signal } = control
  // The operator runs long and mostly waits; by default the heap grows to three times its live size before a collection.
  setFlagsFromString('--heap-growing-percent=30')
  const identity = `${hostname()}_${randomUUID()}`
  const metrics = createMetrics({ clock: systemClock, process: true })
  const election = { namespace, name: LEASE_NAME, identity }
  // An observer writes no Lease.
  const isElected = options.leaderElection && !options.observe
  const transform = createCacheTransform(program)
  const indexed = new Set(program.indexedKinds.map(formatGroupKind))
  const isIndexed = (kind: GroupVersionKind): boolean => indexed.has(formatGroupKind(kind))
  const namespacesFor = createNamespacesFor(options)
  const runtime = createRuntime({
    client,
    log,
    metrics,
    transform,
    isIndexed,
    namespacesFor,
    ...(isElected && { election }),
  })
  const recorder = createEventRecorder({
    client,
    controller: `stackloom.dev/${LEASE_NAME}`,
    instance: identity,
    clock: systemClock,
    log,
  })
  const handlers = program.start({
    runtime,
    metrics,
    record: recorder.record,
    transport,
    env: options.env,
    runs: options.runs ?? 'jobs',
    ...(options.runTimeLimit !== undefined && { runTimeLimitMs: options.runTimeLimit }),
    segmentOwners: options.segmentOwners ?? [],
    machineNamespaces: options.machineNamespaces ?? [],
    runPolicy: {
      volumes: options.runVolumes ?? [],
      serviceAccounts: options.runServiceAccounts ?? [],
      privileged: options.runPrivileged ?? false,
    },
  })
  const { bind: host, healthPort } = options
  const ready = () => [...runtime.ready(), ...(closing.aborted ? [{ name: 'shutdown', problem: 'it stops soon' }] : [])]
  const health = await serveHealth({ host, port: healthPort, ready, metrics }, signal)
  log({ level: 'info', message: 'health is served', port: health.port })
  const serverDeps = { client, namespace, options, handlers, webhooks: program.webhooks, metrics, log, closing }
  const webhooks = await (options.observe ? serveObserverMetrics : serveWebhooks)(serverDeps, signal)
  const recording = recorder.run(signal)
  const rival = options.observe
    ? undefined
    : reportInfraOperator(client, { metrics, record: recorder.record, log }, signal)
  try {
    const end = await runtime.run(signal)
    if (end === 'lost') throw failure(leadershipLost, {}, { exitCode: 1 })
  } finally {
    control.abort()
    await Promise.all([recording, rival, health.stopped, webhooks?.stopped])
  }
}
