/**
 * Holds a Lease while `up`, `down`, `adopt` or `update` writes, so that only one run at a time changes a cluster.
 *
 * If the holder is alive, the run is refused. A holder on this machine counts as dead when its process is gone; a holder
 * on another machine when its Lease has expired.
 */
import { hostname, userInfo } from 'node:os'
import type { KubeObject } from '../api/object.ts'
import { getString } from '../api/raw-object.ts'
import { systemClock } from '../clock/clock.ts'
import { failure } from '../errors/failure.ts'
import { isApiError } from '../kube/api-error.ts'
import type { KubeClient } from '../kube/client.ts'
import { type LeaseTiming, runAsLeader } from '../kube/leader-election.ts'
import { anotherRun } from './findings/up.ts'
import { SYSTEM_NAMESPACE } from './inventory.ts'

const NAME = 'stackloom-up'

/** Longer than a controller's: a run of many clouds keeps the server busy, and its own renewals may wait. */
const timing: LeaseTiming = { leaseMs: 30_000, renewDeadlineMs: 20_000, retryMs: 2_000, attemptMs: 8_000 }

export interface RunLeaseOptions {
  readonly client: KubeClient
  readonly identity: string
  /** Called once while it is not yet clear whether another run is alive. */
  readonly onDoubt?: (holder: string) => void
  readonly stop: AbortSignal
}

/** `alice@laptop:4711:k3j2`: user, machine, process id, and a random part against reused process ids. */
export function runIdentity(pid = process.pid): string {
  return `${userInfo().username}@${hostname()}:${pid}:${Math.random().toString(36).slice(2, 8)}`
}

/** Runs the work while holding the Lease; the signal aborts when the Lease is lost. */
export async function withRunLease<T>(options: RunLeaseOptions, work: (lost: AbortSignal) => Promise<T>): Promise<T> {
  const { client, identity, stop } = options
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
      async ({ signal }) => {
        waiting.abort()
        result = { value: await work(signal) }
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
  const { client, identity, onDoubt } = options
  let first: string | undefined
  while (!until.aborted) {
    const lease = await readLease(client)
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
  const [user = '', pid = ''] = leaseHolder(lease).split(':')
  if (!lease || user.split('@')[1] !== hostname() || isProcessAlive(Number(pid))) return
  const spec = { ...(lease['spec'] as object), holderIdentity: '' }
  await client.update({ ...lease, spec }).catch((thrown: unknown) => {
    if (!isApiError(thrown, 'conflict')) throw thrown
  })
}

function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
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
