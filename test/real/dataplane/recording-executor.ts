/**
 * Simulates an executor: records which attempts started on which hosts, and writes the status of OpenStackAnsibleEEs like
 * a real one.
 */
import {
  type AnsibleRun,
  ansibleRuns,
  hasEnded,
  limitedHosts,
  type RunResult,
} from '../../../src/dataplane/kinds/ansible-run.ts'
import { STEP_ANNOTATION } from '../../../src/dataplane/runs/attempts.ts'
import { isApiError } from '../../../src/kube/api-error.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { createRuntime } from '../../../src/kube/runtime.ts'

export interface Recorded {
  readonly run: string
  readonly namespace: string
  readonly step: string
  readonly hosts: readonly string[]
  readonly spec: AnsibleRun['spec']
}

export interface RecordingExecutor {
  /** In start order. */
  readonly recorded: Recorded[]
  /** Hosts with two attempts at once: there must be none. */
  readonly overlaps: string[]
  readonly stop: () => Promise<void>
}

/** The result of an attempt; undefined leaves it running. */
export type Play = (run: Recorded) => Partial<RunResult> | undefined

const counted = { ok: 1, changed: 1, failures: 0, unreachable: 0 }

export function recordingExecutor(client: KubeClient, play: Play = () => ({})): RecordingExecutor {
  const runtime = createRuntime({ client })
  const cache = runtime.cache<AnsibleRun>({ kind: ansibleRuns })
  const recorded: Recorded[] = []
  const overlaps: string[] = []
  const busy = new Map<string, string>()
  const begun = new Set<string>()
  runtime.add({
    name: 'recording-executor',
    watches: [{ kind: ansibleRuns }],
    workers: 16,
    reconcile: async ({ namespace = '', name }, { signal }) => {
      const run = cache.get(`${namespace}/${name}`)
      if (!run || hasEnded(run)) return
      const facts = factsOf(run)
      if (!begun.has(run.metadata.uid ?? '')) {
        begun.add(run.metadata.uid ?? '')
        recorded.push(facts)
        for (const host of facts.hosts) {
          const key = `${namespace}/${host}`
          const other = busy.get(key)
          if (other !== undefined && other !== name) overlaps.push(`${key}: ${other} and ${name}`)
          busy.set(key, name)
        }
      }
      const outcome = play(facts)
      if (!outcome) return
      const reason = outcome.reason ?? 'Completed'
      const result = {
        reason,
        finishedAt: new Date().toISOString(),
        hosts: Object.fromEntries(facts.hosts.map((host) => [host, counted])),
        ...outcome,
      }
      for (const host of facts.hosts) busy.delete(`${namespace}/${host}`)
      const status = { JobStatus: reason === 'Completed' ? 'Succeeded' : 'Failed', result }
      try {
        await client.update({ ...run, status }, { subresource: 'status', fieldManager: 'recording-executor', signal })
      } catch (error) {
        if (!isApiError(error, 'conflict', 'not-found')) throw error
      }
    },
  })
  const control = new AbortController()
  const done = runtime.run(control.signal)
  const stop = async (): Promise<void> => {
    control.abort()
    await done
  }
  return { recorded, overlaps, stop }
}

function factsOf(run: AnsibleRun): Recorded {
  return {
    run: run.metadata.name,
    namespace: run.metadata.namespace ?? '',
    step: run.metadata.annotations?.[STEP_ANNOTATION] ?? '',
    hosts: limitedHosts(run) ?? [],
    spec: run.spec,
  }
}
