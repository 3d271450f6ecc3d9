/**
 * Exports metrics of the runtime under controller-runtime's names, so that dashboards and alerts written for other
 * operators work for ours.
 *
 * The runtime knows observers only; this file turns them into Prometheus metrics.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Clock } from '../clock/clock.ts'
import type { AdmissionObserver } from './admission.ts'
import type { ControllerObserver, Outcome } from './controller.ts'
import type { ReflectorObserver, ReflectorStatus } from './reflector.ts'

export interface Metrics {
  readonly registry: Registry
  readonly controller: (name: string, processingMs: () => readonly number[]) => ControllerObserver
  readonly reflector: (name: string, status: () => ReflectorStatus) => ReflectorObserver
  readonly admission: AdmissionObserver
  readonly election: (name: string) => { readonly leading: (leading: boolean) => void }
  /** The page that Prometheus scrapes. */
  readonly text: () => Promise<{ readonly type: string; readonly body: string }>
}

export interface MetricsOptions {
  readonly clock: Clock
  /** Also export process metrics: memory, CPU, event loop lag. */
  readonly process?: boolean
}

/** controller-runtime's buckets for queues: powers of ten from 10 ns to 1000 s. */
const queueBuckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000]
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]

/** controller-runtime's names of outcomes; an interrupted reconcile is not counted. */
const results: Readonly<Record<Exclude<Outcome['kind'], 'interrupted'>, string>> = {
  success: 'success',
  'requeue-after': 'requeue_after',
  error: 'error',
}

export function createMetrics({ clock, process = false }: MetricsOptions): Metrics {
  const registry = new Registry()
  if (process) collectDefaultMetrics({ register: registry })
  return {
    registry,
    ...controllerMetrics(registry),
    reflector: reflectorMetrics(registry, clock),
    admission: admissionMetrics(registry),
    election: electionMetrics(registry),
    text: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  }
}

function controllerMetrics(registry: Registry): Pick<Metrics, 'controller'> {
  const make = createMakers(registry)
  const labels = ['controller'] as const
  const queueLabels = ['name', 'controller'] as const
  const processing = new Map<string, () => readonly number[]>()
  const collectProcessing = (fold: (all: readonly number[]) => number) =>
    function (this: Gauge<'name' | 'controller'>): void {
      for (const [name, ms] of processing) this.set({ name, controller: name }, fold(ms()) / 1000)
    }

  const depth = make.gauge('workqueue_depth', 'Keys waiting for a worker', queueLabels)
  const adds = make.counter('workqueue_adds_total', 'Keys added to the queue', queueLabels)
  const retries = make.counter('workqueue_retries_total', 'Keys added again after a failure', queueLabels)
  const waited = make.histogram('workqueue_queue_duration_seconds', 'Time that keys waited', queueLabels, queueBuckets)
  const worked = make.histogram('workqueue_work_duration_seconds', 'Time to process keys', queueLabels, queueBuckets)
  make.gauge('workqueue_unfinished_work_seconds', 'Total time of the keys in work so far', queueLabels, {
    collect: collectProcessing((all) => all.reduce((sum, ms) => sum + ms, 0)),
  })
  make.gauge('workqueue_longest_running_processor_seconds', 'Time of the slowest key in work', queueLabels, {
    collect: collectProcessing((all) => Math.max(0, ...all)),
  })
  const total = make.counter('controller_runtime_reconcile_total', 'Reconciles by result', ['controller', 'result'])
  const errors = make.counter('controller_runtime_reconcile_errors_total', 'Failed reconciles', labels)
  const time = make.histogram(
    'controller_runtime_reconcile_time_seconds',
    'Time per reconcile',
    labels,
    reconcileBuckets,
  )
  const maxConcurrent = make.gauge('controller_runtime_max_concurrent_reconciles', 'Maximum number of workers', labels)
  const active = make.gauge('controller_runtime_active_workers', 'Workers that process a key', labels)

  const reconciled = (controller: string, outcome: Outcome['kind'], tookMs: number): void => {
    if (outcome === 'interrupted') return
    total.inc({ controller, result: results[outcome] })
    time.observe({ controller }, tookMs / 1000)
    if (outcome === 'error') errors.inc({ controller })
  }

  return {
    controller: (name, processingMs) => {
      const controllerLabels = { controller: name }
      const queue = { name, controller: name }
      processing.set(name, processingMs)
      // A metric that is absent until something fails cannot be alerted on.
      for (const metric of [adds, retries]) metric.inc(queue, 0)
      errors.inc(controllerLabels, 0)
      for (const result of new Set(Object.values(results))) total.inc({ ...controllerLabels, result }, 0)
      return {
        queue: {
          added: (keys) => {
            adds.inc(queue)
            depth.set(queue, keys)
          },
          taken: (keys, ms) => {
            depth.set(queue, keys)
            waited.observe(queue, ms / 1000)
          },
          finished: (ms) => worked.observe(queue, ms / 1000),
          retried: () => retries.inc(queue),
        },
        started: (workers) => maxConcurrent.set(controllerLabels, workers),
        active: (workers) => active.set(controllerLabels, workers),
        reconciled: (outcome, tookMs) => reconciled(name, outcome, tookMs),
      }
    },
  }
}

function reflectorMetrics(registry: Registry, clock: Clock): Metrics['reflector'] {
  const make = createMakers(registry)
  const labels = ['name'] as const
  const statuses = new Map<string, () => ReflectorStatus>()
  const lists = make.counter('reflector_lists_total', 'Complete lists', labels)
  const watches = make.counter('reflector_watches_total', 'Started watches', labels)
  const failures = make.counter('reflector_failures_total', 'Failed lists and watches', labels)
  const events = make.counter('reflector_events_total', 'Watch events by type', ['name', 'type'])
  make.gauge('reflector_last_event_age_seconds', 'Time since the server last sent something', labels, {
    collect() {
      for (const [name, status] of statuses) {
        const { lastEventAt } = status()
        if (lastEventAt !== undefined) this.set({ name }, (clock.elapsed() - lastEventAt) / 1000)
      }
    },
  })
  return (name, status) => {
    statuses.set(name, status)
    for (const metric of [lists, watches, failures]) metric.inc({ name }, 0)
    return {
      listed: () => lists.inc({ name }),
      watched: () => watches.inc({ name }),
      failed: () => failures.inc({ name }),
      event: (type) => events.inc({ name, type }),
    }
  }
}

function admissionMetrics(registry: Registry): AdmissionObserver {
  const make = createMakers(registry)
  const total = make.counter('controller_runtime_webhook_requests_total', 'Reviews by HTTP code', ['webhook', 'code'])
  const seconds = make.histogram(
    'controller_runtime_webhook_latency_seconds',
    'Time per review',
    ['webhook'],
    reconcileBuckets,
  )
  const inFlight = make.gauge('controller_runtime_webhook_requests_in_flight', 'Reviews in work', ['webhook'])
  return {
    started: (webhook) => inFlight.inc({ webhook }),
    finished: (webhook, code, tookMs) => {
      inFlight.dec({ webhook })
      total.inc({ webhook, code: String(code) })
      seconds.observe({ webhook }, tookMs / 1000)
    },
  }
}

function electionMetrics(registry: Registry): Metrics['election'] {
  const status = createMakers(registry).gauge('leader_election_master_status', '1 while this instance leads', ['name'])
  return (name) => {
    status.set({ name }, 0)
    return { leading: (leading) => status.set({ name }, leading ? 1 : 0) }
  }
}

function createMakers(registry: Registry) {
  const registers = [registry]
  return {
    counter: <L extends string>(name: string, help: string, labels: readonly L[]) =>
      new Counter({ name, help, registers, labelNames: [...labels] }),
    gauge: <L extends string>(name: string, help: string, labels: readonly L[], more?: GaugeOptions<L>) =>
      new Gauge({ name, help, registers, labelNames: [...labels], ...more }),
    histogram: <L extends string>(name: string, help: string, labels: readonly L[], buckets: readonly number[]) =>
      new Histogram({ name, help, registers, labelNames: [...labels], buckets: [...buckets] }),
  }
}

interface GaugeOptions<L extends string> {
  readonly collect: (this: Gauge<L>) => void
}
