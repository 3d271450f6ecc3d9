/**
 * Figures of the runtime for Prometheus, under the names that controller-runtime gave them, so that dashboards and
 * alerts written for other operators work for ours.
 *
 * The parts of the runtime know observers only; this file turns observers into figures.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Clock } from '../clock/clock.ts'
import type { AdmissionObserver } from './admission.ts'
import type { ControllerObserver, Outcome } from './controller.ts'
import type { ReflectorObserver, ReflectorStatus } from './reflector.ts'

export interface Metrics {
  readonly registry: Registry
  readonly controller: (name: string, workingMs: () => readonly number[]) => ControllerObserver
  readonly reflector: (name: string, status: () => ReflectorStatus) => ReflectorObserver
  readonly admission: AdmissionObserver
  readonly election: (name: string) => { readonly leading: (leading: boolean) => void }
  /** The page that Prometheus reads. */
  readonly text: () => Promise<{ readonly type: string; readonly body: string }>
}

export interface MetricsOptions {
  readonly clock: Clock
  /** Figures of the process too: memory, processor, lag of the event loop. */
  readonly process?: boolean
}

/** From microseconds to minutes, in powers of ten: what controller-runtime uses for queues. */
const queueBuckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000]
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]

/** How controller-runtime calls what a look came to; what a stop broke off is counted by nobody. */
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
    ...controllerFigures(registry),
    reflector: reflectorFigures(registry, clock),
    admission: admissionFigures(registry),
    election: electionFigures(registry),
    text: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  }
}

function controllerFigures(registry: Registry): Pick<Metrics, 'controller'> {
  const make = makers(registry)
  const labels = ['controller'] as const
  const queueLabels = ['name', 'controller'] as const
  const working = new Map<string, () => readonly number[]>()
  const collectWorking = (fold: (all: readonly number[]) => number) =>
    function (this: Gauge<'name' | 'controller'>): void {
      for (const [name, ms] of working) this.set({ name, controller: name }, fold(ms()) / 1000)
    }

  const depth = make.gauge('workqueue_depth', 'Keys that wait for a worker', queueLabels)
  const adds = make.counter('workqueue_adds_total', 'Keys that were added to the queue', queueLabels)
  const retries = make.counter('workqueue_retries_total', 'Keys that were added again after a failure', queueLabels)
  const waited = make.histogram('workqueue_queue_duration_seconds', 'How long keys waited', queueLabels, queueBuckets)
  const worked = make.histogram('workqueue_work_duration_seconds', 'How long keys took', queueLabels, queueBuckets)
  make.gauge('workqueue_unfinished_work_seconds', 'How long the keys in work have taken so far, in sum', queueLabels, {
    collect: collectWorking((all) => all.reduce((sum, ms) => sum + ms, 0)),
  })
  make.gauge('workqueue_longest_running_processor_seconds', 'How long the slowest key in work has taken', queueLabels, {
    collect: collectWorking((all) => Math.max(0, ...all)),
  })
  const total = make.counter('controller_runtime_reconcile_total', 'Looks, by what they came to', [
    'controller',
    'result',
  ])
  const errors = make.counter('controller_runtime_reconcile_errors_total', 'Looks that failed', labels)
  const time = make.histogram('controller_runtime_reconcile_time_seconds', 'Time per look', labels, reconcileBuckets)
  const most = make.gauge('controller_runtime_max_concurrent_reconciles', 'Workers', labels)
  const active = make.gauge('controller_runtime_active_workers', 'Workers that have a key', labels)

  const reconciled = (controller: string, outcome: Outcome['kind'], tookMs: number): void => {
    if (outcome === 'interrupted') return
    total.inc({ controller, result: results[outcome] })
    time.observe({ controller }, tookMs / 1000)
    if (outcome === 'error') errors.inc({ controller })
  }

  return {
    controller: (name, workingMs) => {
      const own = { controller: name }
      const queue = { name, controller: name }
      working.set(name, workingMs)
      // A figure that is absent until something fails cannot be alerted on.
      for (const figure of [adds, retries]) figure.inc(queue, 0)
      errors.inc(own, 0)
      for (const result of new Set(Object.values(results))) total.inc({ ...own, result }, 0)
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
        started: (workers) => most.set(own, workers),
        active: (workers) => active.set(own, workers),
        reconciled: (outcome, tookMs) => reconciled(name, outcome, tookMs),
      }
    },
  }
}

function reflectorFigures(registry: Registry, clock: Clock): Metrics['reflector'] {
  const make = makers(registry)
  const labels = ['name'] as const
  const statuses = new Map<string, () => ReflectorStatus>()
  const lists = make.counter('reflector_lists_total', 'Whole lists', labels)
  const watches = make.counter('reflector_watches_total', 'Watches that were begun', labels)
  const failures = make.counter('reflector_failures_total', 'Lists and watches that failed', labels)
  const events = make.counter('reflector_events_total', 'Events of watches', ['name', 'type'])
  make.gauge('reflector_last_event_age_seconds', 'Since when nothing was heard of the server', labels, {
    collect() {
      for (const [name, status] of statuses) {
        const { lastEventAt } = status()
        if (lastEventAt !== undefined) this.set({ name }, (clock.elapsed() - lastEventAt) / 1000)
      }
    },
  })
  return (name, status) => {
    statuses.set(name, status)
    for (const figure of [lists, watches, failures]) figure.inc({ name }, 0)
    return {
      listed: () => lists.inc({ name }),
      watched: () => watches.inc({ name }),
      failed: () => failures.inc({ name }),
      event: (type) => events.inc({ name, type }),
    }
  }
}

function admissionFigures(registry: Registry): AdmissionObserver {
  const make = makers(registry)
  const total = make.counter('controller_runtime_webhook_requests_total', 'Reviews, by HTTP code', ['webhook', 'code'])
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

function electionFigures(registry: Registry): Metrics['election'] {
  const status = makers(registry).gauge('leader_election_master_status', '1 while this one leads', ['name'])
  return (name) => {
    status.set({ name }, 0)
    return { leading: (leading) => status.set({ name }, leading ? 1 : 0) }
  }
}

interface Makers {
  readonly counter: <L extends string>(name: string, help: string, labels: readonly L[]) => Counter<L>
  readonly gauge: <L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    more?: { collect: (this: Gauge<L>) => void },
  ) => Gauge<L>
  readonly histogram: <L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ) => Histogram<L>
}

function makers(registry: Registry): Makers {
  const registers = [registry]
  return {
    counter: (name, help, labels) => new Counter({ name, help, registers, labelNames: [...labels] }),
    gauge: (name, help, labels, more) => new Gauge({ name, help, registers, labelNames: [...labels], ...more }),
    histogram: (name, help, labels, buckets) =>
      new Histogram({ name, help, registers, labelNames: [...labels], buckets: [...buckets] }),
  }
}
