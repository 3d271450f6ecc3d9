/**
 * Holds a Lease while `up`, `down`, `adopt` or `update` writes, so that only one run at a time changes a cluster.
 *
 * If the holder is alive, the run is refused. A holder on this machine counts as dead when its process is gone; any other
 * holder when its Lease has expired. Every write checks the Lease: a process that slept past it writes nothing more.
 */
import { randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import type { KubeObject } from '../api/object.ts'
import { getString } from '../api/raw-object.ts'
import { SYSTEM_NAMESPACE } from '../api/reserved-namespace.ts'
import { systemClock } from '../clock/clock.ts'
import { failure } from '../errors/failure.ts'
import { isRunning } from '../files/process-alive.ts'
import { processScope } from '../files/process-scope.ts'
import { isApiError } from '../kube/api-error.ts'
import type { KubeClient } from '../kube/client.ts'
import { type LeaseTiming, runAsLeader } from '../kube/leader-election.ts'
import { leaderFencedClient } from '../kube/leadership.ts'
import type { WriteGuard } from '../kube/write-guard.ts'
import { anotherRun, leaseLost } from './findings/up.ts'
import { refuseTerminatingNamespace } from './inventory.ts'

const NAME = 'stackloom-up'

/** Longer than a controller's: a run of many clouds keeps the server busy, and its own renewals may wait. */
const defaultTiming: LeaseTiming = { leaseMs: 30_000, renewDeadlineMs: 20_000, retryMs: 2_000, attemptMs: 8_000 }

export interface RunLeaseOptions {
  readonly client: KubeClient
  readonly identity: string
  /** Called once while it is not yet clear whether another run is alive. */
  readonly onDoubt?: (holder: string) => void
  readonly stop: AbortSignal
  readonly timing?: LeaseTiming
}

/** What the work gets while the run holds the Lease. */
export interface HeldLease {
  /** Aborts when the Lease is lost. */
  readonly lost: AbortSignal
  /** Throws when the Lease is lost. Computed at each call, so that it is right before any timer fires after a pause. */
  readonly guard: WriteGuard
  /** Checks the Lease when a write is about to be sent. */
  readonly client: KubeClient
}

/**
 * `alice@laptop:4711:k3j2a9:1f0c…`: user, host name, process id, a random part against reused process ids, and the scope
 * of the process id: many machines and containers have the same host name.
 */
export function runIdentity(pid = process.pid, scope = processScope()): string {
  return [`${userInfo().username}@${hostname()}`, pid, randomUUID().slice(0, 8), scope ?? '']
    .map((part) => String(part).replaceAll(':', '_'))
    .join(':')
}

/** Runs the work while holding the Lease. */
export async function withRunLease<T>(options: RunLeaseOptions, work: (held: HeldLease) => Promise<T>): Promise<T> {
  const { client, identity, stop, timing = defaultTiming } = options
  const refused = new AbortController()
  const waiting = new AbortController()
  let refusal: unknown
  await releaseDeadHolder(options)
  const watching = watchHolder(options, waiting.signal).catch((thrown: unknown) => {
    refusal = thrown
    refused.abort()
  })
  let result: { readonly value: T } | undefined
  const lease = { client, namespace: SYSTEM_NAMESPACE, name: NAME, identity, clock: systemClock, timing }
  try {
    await runAsLeader(
      lease,
      async ({ signal: lost, isHeld }) => {
        waiting.abort()
        const guard = (): void => {
          if (!isHeld()) throw failure(leaseLost, {}, { exitCode: 1 })
        }
        result = { value: await work({ lost, guard, client: leaderFencedClient(client, guard) }) }
      },
      AbortSignal.any([stop, refused.signal]),
    )
  } finally {
    waiting.abort()
    await watching
  }
  if (result) return result.value
  stop.throwIfAborted()
  throw refusal
}

/** Throws when the holder renews its Lease while this run waits for it: then the other run is alive. */
async function watchHolder(options: RunLeaseOptions, until: AbortSignal): Promise<void> {
  const { client, identity, onDoubt, timing = defaultTiming } = options
  let first: string | undefined
  while (!until.aborted) {
    const lease = await readLease(client)
    if (!lease) await refuseTerminatingNamespace(client)
    const holder = leaseHolder(lease)
    if (holder === '' || holder === identity) first = undefined
    else {
      const now = JSON.stringify(lease?.['spec'])
      if (first === undefined) onDoubt?.(holder)
      else if (first !== now) throw failure(anotherRun, { holder: formatHolder(holder) }, { exitCode: 1 })
      first ??= now
    }
    await systemClock.sleep(timing.retryMs / 2, until)
  }
}

async function releaseDeadHolder({ client }: RunLeaseOptions): Promise<void> {
  const lease = await readLease(client)
  if (!lease || !isDeadHolder(leaseHolder(lease))) return
  const spec = { ...(lease['spec'] as object), holderIdentity: '' }
  await client.update({ ...lease, spec }).catch((thrown: unknown) => {
    if (!isApiError(thrown, 'conflict')) throw thrown
  })
}

/** True only for a holder whose process id belongs to this machine and is not in use. */
function isDeadHolder(holder: string): boolean {
  const [, pid = '', , scope = ''] = holder.split(':')
  return scope !== '' && scope === processScope() && !isRunning(Number(pid))
}

function readLease(client: KubeClient): Promise<KubeObject | undefined> {
  return client.get({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: SYSTEM_NAMESPACE, name: NAME })
}

function leaseHolder(lease: KubeObject | undefined): string {
  return getString(lease, 'spec', 'holderIdentity') ?? ''
}

function formatHolder(holder: string): string {
  const [user = holder, pid] = holder.split(':')
  return pid === undefined ? user : `${user} (process ${pid})`
}
