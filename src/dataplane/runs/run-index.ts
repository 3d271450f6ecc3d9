/**
 * The runs of a cluster, by host: which there are, which are under way, and the one way to start another.
 *
 * Starting takes the hosts first, in this program's memory, so that two looks at the same time never send two runs to
 * one host; what was created counts at once, before the watch tells of it.
 */

import { type KubeObject, objectKey } from '../../api/object.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { Runtime, SharedCache } from '../../kube/runtime.ts'
import { type AnsibleRun, ansibleRuns, hasEnded } from '../kinds/ansible-run.ts'
import { type Attempt, findAttempt, isActiveOn, runHosts, STEP_ANNOTATION } from './attempts.ts'

export interface RunIndex {
  /** Every run that was made for this host, by whomever. */
  readonly forHost: (namespace: string, host: string) => readonly AnsibleRun[]
  readonly forOwner: (uid: string) => readonly AnsibleRun[]
  /** The run that may touch this host now. */
  readonly activeRun: (namespace: string, host: string) => string | undefined
  /** False when somebody is on one of the hosts, or such a run exists already. */
  readonly start: (run: AnsibleRun, signal: AbortSignal) => Promise<boolean>
  /** Deletes the ended runs of an owner that nobody needs any more. `proofs` are those of what its status records. */
  readonly prune: (owner: string, proofs: () => readonly string[], signal: AbortSignal) => Promise<void>
  readonly cache: SharedCache<AnsibleRun>
}

/** So many ended runs of each step are kept for people to read. */
const KEPT_RUNS = 3

const RUN_MANAGER = 'stackloom-dataplane'

export function createRunIndex(runtime: Pick<Runtime, 'client' | 'cache'>): RunIndex {
  const { client } = runtime
  const cache = runtime.cache<AnsibleRun>(
    { kind: ansibleRuns },
    {
      host: (run) => [...runHosts(run)].map((host) => `${run.metadata.namespace}/${host}`),
      owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid),
    },
  )
  /** Created, and not told of yet. */
  const made = new Map<string, AnsibleRun>()
  /** About to be created. */
  const taken = new Map<string, string>()
  cache.subscribe(({ object }) => made.delete(objectKey(object.metadata)))

  const withMade = (known: readonly AnsibleRun[], belongs: (run: AnsibleRun) => boolean): readonly AnsibleRun[] =>
    made.size === 0 ? known : [...known, ...[...made.values()].filter(belongs)]
  const ofHost = (namespace: string, host: string): readonly AnsibleRun[] =>
    withMade(
      cache.byIndex('host', `${namespace}/${host}`),
      (run) => run.metadata.namespace === namespace && runHosts(run).has(host),
    )
  const touching = (namespace: string, host: string): string | undefined =>
    taken.get(`${namespace}/${host}`) ?? ofHost(namespace, host).find((run) => isActiveOn(run, host))?.metadata.name

  const ofOwner = (uid: string): readonly AnsibleRun[] =>
    withMade(cache.byIndex('owner', uid), ({ metadata }) =>
      (metadata.ownerReferences ?? []).some((ownerReference) => ownerReference.uid === uid),
    )

  return {
    cache,
    forHost: ofHost,
    activeRun: touching,
    forOwner: ofOwner,
    prune: async (owner, proofs, signal) => {
      const runs = ofOwner(owner)
      if (runs.length <= KEPT_RUNS) return
      for (const { metadata } of prunableRuns(runs, new Set(proofs()), KEPT_RUNS)) {
        const { namespace = '', name } = metadata
        await client.delete({ ...ansibleRuns, namespace, name }, { signal })
      }
    },
    start: async (run, signal) => {
      const { name, namespace = '' } = run.metadata
      const hosts = [...runHosts(run)]
      if (hosts.some((host) => touching(namespace, host) !== undefined)) return false
      for (const host of hosts) taken.set(`${namespace}/${host}`, name)
      try {
        const created = (await client.create(run as KubeObject, {
          fieldManager: RUN_MANAGER,
          signal,
        })) as AnsibleRun
        const key = objectKey(created.metadata)
        if (!cache.get(key)) made.set(key, created)
        return true
      } catch (error) {
        // Somebody else started this very attempt: the watch tells how it goes.
        if (isApiError(error, 'already-exists')) return false
        throw error
      } finally {
        for (const host of hosts) taken.delete(`${namespace}/${host}`)
      }
    },
  }
}

/**
 * Ended runs that nobody needs any more: older than the last ones of their step, not the proof of what is recorded, and
 * not counted among the attempts of a host that has yet to succeed. A failure that is forgotten would be tried for ever.
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

/** One that is under way is younger than all that have ended. */
function sortKey(run: AnsibleRun): string {
  return hasEnded(run) ? (run.status?.result?.finishedAt ?? run.metadata.creationTimestamp ?? '') : '~'
}

/** Those that tried on some host what its newest attempt tries, and has not achieved. */
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
