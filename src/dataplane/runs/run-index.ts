/**
 * Indexes the runs of a cluster by host and owner, starts runs and deletes those that are no longer needed.
 *
 * A start reserves its hosts in memory first, so that two reconciles at the same time never send two runs to one host;
 * a created run counts at once, before the watch reports it.
 */
import { type KubeObject, objectKey } from '../../api/object.ts'
import { tryOwnedWrite } from '../../controllers/kit/ownership.ts'
import type { Finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Runtime, SharedCache } from '../../kube/runtime.ts'
import { type AnsibleRun, ansibleRuns, hasEnded } from '../kinds/ansible-run.ts'
import { FIELD_MANAGER } from '../writes.ts'
import { type Attempt, findAttempt, isActiveOn, runHosts, STEP_ANNOTATION } from './attempts.ts'
import { readPlaybook } from './playbooks.ts'
import { buildRun, type RunRequest } from './run-object.ts'

export interface RunIndex {
  /** Every run that was created for this host. */
  readonly forHost: (namespace: string, host: string) => readonly AnsibleRun[]
  readonly forOwner: (uid: string) => readonly AnsibleRun[]
  /** The run that may touch this host now. */
  readonly activeRun: (namespace: string, host: string) => string | undefined
  /**
   * Starts nothing while another run is active on one of the hosts, or when the same run exists already. Returns why the
   * API server refuses the run, if it does: only a person can correct that.
   */
  readonly start: (request: RunRequest, signal: AbortSignal) => Promise<Finding | undefined>
  /** Deletes the ended runs of an owner that are no longer needed. `proofs` are the runs that its status records. */
  readonly prune: (owner: string, proofs: () => readonly string[], signal: AbortSignal) => Promise<void>
}

/** How many ended runs of each step are kept for people to read. */
const KEPT_RUNS = 3

export interface RunIndexDeps {
  readonly runtime: Pick<Runtime, 'client' | 'cache'>
  readonly record: (event: EventRecord) => void
}

export function createRunIndex({ runtime, record }: RunIndexDeps): RunIndex {
  const { client } = runtime
  const cache: SharedCache<AnsibleRun> = runtime.cache<AnsibleRun>(
    { kind: ansibleRuns },
    {
      host: (run) => [...runHosts(run)].map((host) => `${run.metadata.namespace}/${host}`),
      owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid),
    },
  )
  /** Created, and not reported by the watch yet. */
  const pending = new Map<string, AnsibleRun>()
  /** Hosts of runs that are about to be created, each with the name of its run. */
  const reserved = new Map<string, string>()
  cache.subscribe(({ object }) => pending.delete(objectKey(object.metadata)))

  const withPending = (known: readonly AnsibleRun[], belongs: (run: AnsibleRun) => boolean): readonly AnsibleRun[] =>
    pending.size === 0 ? known : [...known, ...[...pending.values()].filter(belongs)]
  const forHost = (namespace: string, host: string): readonly AnsibleRun[] =>
    withPending(
      cache.byIndex('host', `${namespace}/${host}`),
      (run) => run.metadata.namespace === namespace && runHosts(run).has(host),
    )
  const activeRun = (namespace: string, host: string): string | undefined =>
    reserved.get(`${namespace}/${host}`) ?? forHost(namespace, host).find((run) => isActiveOn(run, host))?.metadata.name
  const forOwner = (uid: string): readonly AnsibleRun[] =>
    withPending(cache.byIndex('owner', uid), ({ metadata }) =>
      (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid),
    )

  /** False when the run was not created. */
  const create = async (run: AnsibleRun, signal: AbortSignal): Promise<boolean> => {
    const { name, namespace = '' } = run.metadata
    const hosts = [...runHosts(run)]
    if (hosts.some((host) => activeRun(namespace, host) !== undefined)) return false
    for (const host of hosts) reserved.set(`${namespace}/${host}`, name)
    try {
      const options = { fieldManager: FIELD_MANAGER, signal }
      const created = (await client.create(run as KubeObject, options)) as AnsibleRun
      const key = objectKey(created.metadata)
      if (!cache.get(key)) pending.set(key, created)
      return true
    } catch (error) {
      // Another operator started this very attempt: the watch reports how it ends.
      if (isApiError(error, 'already-exists')) return false
      throw error
    } finally {
      for (const host of hosts) reserved.delete(`${namespace}/${host}`)
    }
  }

  return {
    forHost,
    activeRun,
    forOwner,
    start: async (request, signal) => {
      const { playbook, owner, step } = request
      // Built-in playbooks are sent as text; only their name counts for whether a host is out of date.
      const content = typeof playbook === 'string' ? { play: await readPlaybook(playbook) } : playbook
      const run = buildRun(request, content)
      const write = await tryOwnedWrite(create(run, signal))
      if (write.kind === 'refused') return write.finding
      const note = `${step}: ${run.metadata.name}`
      if (write.result) record({ regarding: owner, type: 'Normal', reason: 'RunStarted', action: 'Deploy', note })
      return undefined
    },
    prune: async (owner, proofs, signal) => {
      const runs = forOwner(owner)
      if (runs.length <= KEPT_RUNS) return
      for (const { metadata } of prunableRuns(runs, new Set(proofs()), KEPT_RUNS)) {
        const { namespace = '', name, uid } = metadata
        const options = { signal, ...(uid !== undefined && { preconditions: { uid } }) }
        await client.delete({ ...ansibleRuns, namespace, name }, options)
      }
    },
  }
}

/**
 * Ended runs that are no longer needed: older than the last ones of their step, not the proof of a recorded status, and
 * not an attempt of a host that has yet to succeed. A deleted failure would not count and be retried forever.
 */
export function prunableRuns(
  runs: readonly AnsibleRun[],
  proofs: ReadonlySet<string>,
  keep: number,
): readonly AnsibleRun[] {
  const bySteps = new Map<string, AnsibleRun[]>()
  for (const run of runs) {
    const step = run.metadata.annotations?.[STEP_ANNOTATION]
    if (step !== undefined) bySteps.set(step, [...(bySteps.get(step) ?? []), run])
  }
  return [...bySteps].flatMap(([step, list]) => {
    const newestFirst = list.toSorted((a, b) => (sortKey(a) < sortKey(b) ? 1 : -1))
    const counted = runsCountedAsAttempts(newestFirst, step)
    return newestFirst
      .filter(hasEnded)
      .slice(keep)
      .filter((run) => !proofs.has(run.metadata.name) && !counted.has(run))
  })
}

/** A run in progress is newer than all that have ended. */
function sortKey(run: AnsibleRun): string {
  return hasEnded(run) ? (run.status?.result?.finishedAt ?? run.metadata.creationTimestamp ?? '') : '~'
}

/** Runs with the same inputs as the newest attempt of one of their hosts, which has not succeeded. */
function runsCountedAsAttempts(newestFirst: readonly AnsibleRun[], step: string): ReadonlySet<AnsibleRun> {
  const newest = new Map<string, Attempt>()
  const counted = new Set<AnsibleRun>()
  for (const run of newestFirst) {
    for (const host of runHosts(run)) {
      const attempt = findAttempt(run, host, step)
      if (!attempt) continue
      const last = newest.get(host) ?? attempt
      newest.set(host, last)
      if (last.outcome !== 'succeeded' && attempt.hash === last.hash) counted.add(run)
    }
  }
  return counted
}
