/** Executes attempts as Jobs of the cluster: they survive restarts of the operator and spread over the nodes. */

import type { KubeObject } from '../../../api/object.ts'
import { getNumber } from '../../../api/raw-object.ts'
import { type Clock, systemClock } from '../../../clock/clock.ts'
import { isApiError } from '../../../kube/api-error.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Watch } from '../../../kube/controller.ts'
import { ownerKeys } from '../../caches.ts'
import { ansibleRuns } from '../../kinds/ansible-run.ts'
import type { Attempt, Executor } from '../executor.ts'
import { APP_LABEL, buildJob, type JobSettings, jobName, jobs } from './build-job.ts'
import { findStall } from './find-stall.ts'
import { parseJobEnd } from './job-end.ts'

const FIELD_MANAGER = 'stackloom-runs'
/** How long a Job stays after its result is recorded, unless the run keeps it. */
const TTL_SECONDS = 600

export interface JobExecutorOptions extends JobSettings {
  readonly client: KubeClient
  readonly clock?: Clock
}

export function jobExecutor(options: JobExecutorOptions): Executor {
  const { client, clock = systemClock } = options
  const jobReference = (attempt: Attempt) => {
    const { namespace } = attempt.run.metadata
    return { ...jobs, name: jobName(attempt), ...(namespace && { namespace }) }
  }
  const find = async (attempt: Attempt, signal: AbortSignal): Promise<KubeObject | undefined> => {
    const job = await client.get(jobReference(attempt), { signal })
    // A Job of an earlier run with this name does not count.
    const owner = job?.metadata.ownerReferences?.find((ownerReference) => ownerReference.controller)
    return owner?.uid === attempt.run.metadata.uid ? job : undefined
  }
  return {
    name: 'jobs',
    start: async (attempt, inputs, signal) => {
      try {
        await client.create(buildJob(attempt, inputs, options), { fieldManager: FIELD_MANAGER, signal })
      } catch (error) {
        if (!isApiError(error, 'already-exists') || !(await find(attempt, signal))) throw error
      }
    },
    inspect: async (attempt, signal) => {
      const job = await find(attempt, signal)
      if (!job) return { kind: 'absent' }
      const end = parseJobEnd(job, '')
      if (!end) {
        const stall = mayStall(job) ? findStall(await listPods(client, job, signal), clock.now()) : undefined
        return { kind: 'running', ...(stall && { stall }) }
      }
      return { kind: 'ended', end: parseJobEnd(job, await readTerminationMessages(client, job, signal)) ?? end }
    },
    cancel: async (attempt, signal) => {
      const job = await find(attempt, signal)
      if (!job) return true
      const { uid } = job.metadata
      // In the foreground: the Job is deleted after its pod.
      const options = {
        propagation: 'Foreground',
        signal,
        ...(uid !== undefined && { preconditions: { uid } }),
      } as const
      await client.delete(jobReference(attempt), options)
      return (await find(attempt, signal)) === undefined
    },
    cleanUp: async (attempt, signal) => {
      const { preserveJobs = true, ttlSecondsAfterFinished } = attempt.run.spec
      const ttl = ttlSecondsAfterFinished ?? (preserveJobs ? undefined : TTL_SECONDS)
      if (ttl === undefined || !(await find(attempt, signal))) return
      const patch = { spec: { ttlSecondsAfterFinished: ttl } }
      await client.patch(jobReference(attempt), patch, { type: 'merge', fieldManager: FIELD_MANAGER, signal })
    },
  }
}

/** Enqueues the run that owns a Job. */
export const jobWatch: Watch = {
  kind: jobs,
  labelSelector: `app=${APP_LABEL.app}`,
  map: ownerKeys(ansibleRuns.kind),
}

/** A Job counts its pods that are ready, and that is all of them while they work. */
function mayStall(job: KubeObject): boolean {
  return (getNumber(job, 'status', 'ready') ?? 0) === 0
}

async function listPods(client: KubeClient, job: KubeObject, signal: AbortSignal): Promise<readonly KubeObject[]> {
  const { name, namespace = '' } = job.metadata
  const labelSelector = `batch.kubernetes.io/job-name=${name}`
  return (await client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace, labelSelector, signal })).items
}

async function readTerminationMessages(client: KubeClient, job: KubeObject, signal: AbortSignal): Promise<string> {
  interface PodStatus {
    readonly containerStatuses?: readonly {
      readonly state?: { readonly terminated?: { readonly message?: string } }
    }[]
  }
  return (await listPods(client, job, signal))
    .flatMap((pod) => (pod['status'] as PodStatus | undefined)?.containerStatuses ?? [])
    .map(({ state }) => state?.terminated?.message ?? '')
    .join('\n')
}
