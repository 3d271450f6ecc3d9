/**
 * Runs attempts as Jobs of the cluster: the operator may come and go, and the runs spread over its nodes.
 */
import { ansibleRuns } from '../../../../api/ansibleee.ts'
import type { KubeObject } from '../../../../api/object.ts'
import { isApiError } from '../../../../kube/api-error.ts'
import type { KubeClient } from '../../../../kube/client.ts'
import type { Watch } from '../../../../kube/controller.ts'
import { keyOf } from '../../../../kube/key.ts'
import type { Attempt, Executor } from '../executor.ts'
import { jobEnd } from './job-end.ts'
import { APP_LABEL, type JobSettings, jobName, jobOf, jobs } from './job-of.ts'

const FIELD_MANAGER = 'stackloom-runs'
/** So long the Job of a recorded end stays, where nobody asked to keep it. */
const TTL_SECONDS = 600

export interface JobExecutorOptions extends JobSettings {
  readonly client: KubeClient
}

export function jobExecutor(options: JobExecutorOptions): Executor {
  const { client } = options
  const refOf = (attempt: Attempt) => {
    const { namespace } = attempt.run.metadata
    return { ...jobs, name: jobName(attempt), ...(namespace && { namespace }) }
  }
  const find = async (attempt: Attempt, signal: AbortSignal): Promise<KubeObject | undefined> => {
    const job = await client.get(refOf(attempt), { signal })
    // A Job of another run that had this name is not the one that is asked for.
    const owner = job?.metadata.ownerReferences?.find((one) => one.controller)
    return owner?.uid === attempt.run.metadata.uid ? job : undefined
  }
  return {
    name: 'jobs',
    begin: async (attempt, materials, signal) => {
      try {
        await client.create(jobOf(attempt, materials, options), { fieldManager: FIELD_MANAGER, signal })
      } catch (error) {
        if (!isApiError(error, 'already-exists') || !(await find(attempt, signal))) throw error
      }
    },
    look: async (attempt, signal) => {
      const job = await find(attempt, signal)
      if (!job) return { kind: 'absent' }
      const end = jobEnd(job, '')
      if (!end) return { kind: 'running' }
      return { kind: 'ended', end: jobEnd(job, await lastWords(client, job, signal)) ?? end }
    },
    cancel: async (attempt, signal) => {
      if (!(await find(attempt, signal))) return true
      // In the foreground: the Job is gone when its pod is.
      await client.delete(refOf(attempt), { propagation: 'Foreground', signal })
      return (await find(attempt, signal)) === undefined
    },
    forget: async (attempt, signal) => {
      const { preserveJobs = true, ttlSecondsAfterFinished: asked } = attempt.run.spec
      const ttl = asked ?? (preserveJobs ? undefined : TTL_SECONDS)
      if (ttl === undefined || !(await find(attempt, signal))) return
      const patch = { spec: { ttlSecondsAfterFinished: ttl } }
      await client.patch(refOf(attempt), patch, { type: 'merge', fieldManager: FIELD_MANAGER, signal })
    },
  }
}

/** A change of a Job concerns the run that owns it. */
export const jobWatch: Watch = {
  kind: jobs,
  labelSelector: `app=${APP_LABEL.app}`,
  map: ({ metadata }) =>
    (metadata.ownerReferences ?? [])
      .filter((one) => one.kind === ansibleRuns.kind)
      .map(({ name }) => keyOf({ name, ...(metadata.namespace && { namespace: metadata.namespace }) })),
}

async function lastWords(client: KubeClient, job: KubeObject, signal: AbortSignal): Promise<string> {
  const { name, namespace = '' } = job.metadata
  const { items } = await client.list(
    { apiVersion: 'v1', kind: 'Pod' },
    { namespace, labelSelector: `batch.kubernetes.io/job-name=${name}`, signal },
  )
  interface PodStatus {
    readonly containerStatuses?: readonly {
      readonly state?: { readonly terminated?: { readonly message?: string } }
    }[]
  }
  return items
    .flatMap((pod) => (pod['status'] as PodStatus | undefined)?.containerStatuses ?? [])
    .map(({ state }) => state?.terminated?.message ?? '')
    .join('\n')
}
