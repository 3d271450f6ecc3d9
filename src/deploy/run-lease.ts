/**
 * One deployment at a time: a Lease that is held while `up`, `down`, `adopt` or `update` writes.
 *
 * Another living holder means refusal, with his name. A holder of this machine whose process is gone is dead at
 * once; one of another machine is dead when his lease has run out unrenewed.
 */
import { hostname, userInfo } from 'node:os'
import type { KubeObject } from '../api/object.ts'
import { type Clock, systemClock } from '../clock/clock.ts'
import { failure } from '../errors/failure.ts'
import { isApiError } from '../kube/api-error.ts'
import type { KubeClient } from '../kube/client.ts'
import { type LeaseTiming, runAsLeader } from '../kube/leader-election.ts'
import { anotherRun } from '../run/findings.ts'
import { SYSTEM_NAMESPACE } from './inventory.ts'

const NAME = 'stackloom-up'

/** Longer than a controller's: a run of many clouds keeps the server busy, and may wait for its own Lease. */
const runTiming: LeaseTiming = { leaseMs: 30_000, renewDeadlineMs: 20_000, retryMs: 2_000, attemptMs: 8_000 }

export interface RunLeaseOptions {
  readonly client: KubeClient
  readonly identity: string
  readonly clock?: Clock
  readonly timing?: LeaseTiming
  readonly isAlive?: (pid: number) => boolean
  /** Called once when it is not clear yet whether another run is alive. */
  readonly onDoubt?: (holder: string) => void
  readonly stop: AbortSignal
}

/** `alice@laptop:4711:k3j2`: who, where, which process, which life of it. */
export function runIdentity(pid = process.pid): string {
  return `${userInfo().username}@${hostname()}:${pid}:${Math.random().toString(36).slice(2, 8)}`
}

/** Runs the work while holding the lease; its signal fires when the lease is lost. */
export async function withRunLease<T>(settings: RunLeaseOptions, work: (lost: AbortSignal) => Promise<T>): Promise<T> {
  const { client, identity, clock = systemClock, timing = runTiming, stop } = settings
  const refused = new AbortController()
  const inLine = new AbortController()
  let verdict: unknown
  await releaseDeadHolder(settings)
  const watching = watchHolder(settings, inLine.signal).catch((thrown: unknown) => {
    verdict = thrown
    refused.abort()
  })
  let result: { readonly value: T } | undefined
  const options = { client, namespace: SYSTEM_NAMESPACE, name: NAME, identity, clock, timing }
  try {
    await runAsLeader(
      options,
      async ({ signal }) => {
        inLine.abort()
        result = { value: await work(signal) }
      },
      AbortSignal.any([stop, refused.signal]),
    )
  } finally {
    inLine.abort()
    await watching
  }
  if (result) return result.value
  stop.throwIfAborted()
  throw verdict
}

/** Sees whether the holder renews while we stand in line: then he lives, and we go. */
async function watchHolder(settings: RunLeaseOptions, until: AbortSignal): Promise<void> {
  const { clock = systemClock, timing = runTiming, identity, onDoubt } = settings
  let first: string | undefined
  while (!until.aborted) {
    const lease = await readLease(settings.client)
    const holder = leaseHolder(lease)
    if (holder === '' || holder === identity) first = undefined
    else {
      const now = JSON.stringify(lease?.['spec'])
      if (first === undefined) onDoubt?.(holder)
      else if (first !== now) throw failure(anotherRun, { holder: formatHolder(holder) }, { exitCode: 1 })
      first ??= now
    }
    await clock.sleep(timing.retryMs / 2, until)
  }
}

async function releaseDeadHolder({ client, isAlive = isProcessAlive }: RunLeaseOptions): Promise<void> {
  const lease = await readLease(client)
  const [who = '', pid = ''] = leaseHolder(lease).split(':')
  if (!lease || who.split('@')[1] !== hostname() || isAlive(Number(pid))) return
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
  return client.get({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    namespace: SYSTEM_NAMESPACE,
    name: NAME,
  })
}

function leaseHolder(lease: KubeObject | undefined): string {
  return (lease?.['spec'] as { readonly holderIdentity?: string } | undefined)?.holderIdentity ?? ''
}

function formatHolder(holder: string): string {
  const [who = holder, pid] = holder.split(':')
  return pid === undefined ? who : `${who} (process ${pid})`
}
