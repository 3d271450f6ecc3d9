/**
 * The operator at work: puts the parts together, serves webhooks and health, and works until it is told to stop.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { type GroupVersionKind, type KubeObject, withoutManagedFields } from '../api/object.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { systemClock } from '../clock/clock.ts'
import { failure } from '../errors/failure.ts'
import type { AdmissionHandler } from '../kube/admission.ts'
import type { Connection } from '../kube/connect.ts'
import { createEventRecorder } from '../kube/event-recorder.ts'
import { leadershipLost } from '../kube/findings/runtime.ts'
import { serveHealth } from '../kube/health-server.ts'
import type { Log } from '../kube/log.ts'
import { createMetrics } from '../kube/metrics.ts'
import { createRuntime } from '../kube/runtime.ts'
import type { Webhook } from '../webhooks/webhook-configuration.ts'
import { LEASE_NAME } from './names.ts'
import type { OperatorOptions } from './options.ts'
import { refuseInfraOperator, requireKinds, selectParts } from './part-selection.ts'
import type { OperatorPart, PartContext } from './parts/part.ts'
import { parts } from './parts.ts'
import { serveWebhooks } from './webhook-server.ts'

/** Ends when the signal fires; a leadership that is lost is a failure, after which the process must end. */
export async function runOperator(
  connection: Connection,
  options: OperatorOptions,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const control = new AbortController()
  const stop = (): void => control.abort(signal.reason)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  try {
    const { parts: chosen, skipped } = await selectParts(connection.client, parts, options.parts, !options.observe)
    for (const { code, message } of skipped) log({ level: 'info', message: `left out: ${message}`, code })
    const crew = options.observe ? observers(chosen) : controllersOf(chosen)
    await requireKinds(connection.client, crew.kinds)
    if (!options.observe) await refuseInfraOperator(connection.client, control.signal)
    await runParts(connection, crew, options, log, control)
  } finally {
    control.abort()
    signal.removeEventListener('abort', stop)
  }
}

/** What of the parts is run, and what it needs. */
interface Crew {
  readonly kinds: readonly GroupVersionKind[]
  readonly crowds: readonly GroupVersionKind[]
  readonly start: (context: PartContext) => Readonly<Record<string, AdmissionHandler>>
  readonly webhooks: readonly Webhook[]
}

function controllersOf(chosen: readonly OperatorPart[]): Crew {
  return {
    kinds: chosen.flatMap((part) => part.kinds),
    crowds: highCardinalityKinds(chosen),
    start: (context) => Object.assign({}, ...chosen.map((part) => part.start(context))),
    webhooks: chosen.flatMap((part) => part.webhooks),
  }
}

function observers(chosen: readonly OperatorPart[]): Crew {
  return {
    kinds: chosen.flatMap((part) => part.observe?.kinds ?? []),
    crowds: highCardinalityKinds(chosen),
    start: (context) => {
      for (const part of chosen) part.observe?.start(context)
      return {}
    },
    webhooks: [],
  }
}

function highCardinalityKinds(chosen: readonly OperatorPart[]): readonly GroupVersionKind[] {
  return chosen.flatMap((part) => part.highCardinalityKinds ?? [])
}

/** What caches hold of an object. */
function createCacheTransform(crowds: readonly GroupVersionKind[]): (object: KubeObject) => KubeObject {
  const names = new Set(crowds.map(formatGroupKind))
  return (object) => (names.has(formatGroupKind(object)) ? withoutManagedFields(object) : object)
}

async function runParts(
  { client, namespace, transport }: Connection,
  crew: Crew,
  options: OperatorOptions,
  log: Log,
  control: AbortController,
): Promise<void> {
  const { signal } = control
  // It lives long and mostly waits: by default the heap grows to three times of what is in use before it is swept.
  setFlagsFromString('--heap-growing-percent=30')
  const identity = `${hostname()}_${randomUUID()}`
  const metrics = createMetrics({ clock: systemClock, process: true })
  const election = { namespace, name: LEASE_NAME, identity }
  // The Lease is a write, too: an observer makes none.
  const elected = options.leaderElection && !options.observe
  const runtime = createRuntime({
    client,
    log,
    metrics,
    transform: createCacheTransform(crew.crowds),
    ...(elected && { election }),
  })
  const recorder = createEventRecorder({
    client,
    controller: `stackloom.dev/${LEASE_NAME}`,
    instance: identity,
    clock: systemClock,
    log,
  })
  const runs = options.runs ?? 'jobs'
  const context = {
    runtime,
    metrics,
    record: recorder.record,
    transport,
    env: options.env,
    runs,
    ...(options.runTimeLimit !== undefined && { runTimeLimitMs: options.runTimeLimit }),
  }
  const handlers = crew.start(context)
  const { bind: host, healthPort } = options
  const health = await serveHealth({ host, port: healthPort, ready: runtime.ready, metrics }, signal)
  log({ level: 'info', message: 'health is served', port: health.port })
  const serving = { client, namespace, options, handlers, webhooks: crew.webhooks, metrics, log }
  const webhooks = options.observe ? undefined : await serveWebhooks(serving, signal)
  const telling = recorder.run(signal)
  try {
    const end = await runtime.run(signal)
    if (end === 'lost') throw failure(leadershipLost, {}, { exitCode: 1 })
  } finally {
    control.abort()
    await Promise.all([telling, health.stopped, webhooks?.stopped])
  }
}
