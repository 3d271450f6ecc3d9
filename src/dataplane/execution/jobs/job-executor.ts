/**
 * Runs attempts as Jobs of the cluster: the operator may come and go, and the runs spread over its nodes.
 */

import { type KubeObject, objectKey } from '../../../api/object.ts'
import { isApiError } from '../../../kube/api-error.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Watch } from '../../../kube/controller.ts'
import { ansibleRuns } from '../../kinds/ansible-run.ts'
import type { Attempt, Executor } from '../executor.ts'
import { APP_LABEL, buildJob, type JobSettings, jobName, jobs } from './build-job.ts'
import { parseJobEnd } from './job-end.ts'

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
    const owner = job?.metadata.ownerReferences?.find((ownerReference) => ownerReference.controller)
    return owner?.uid === attempt.run.metadata.uid ? job : undefined
  }
  return {
    name: 'jobs',
    start: async (attempt, materials, signal) => {
      try {
        await client.create(buildJob(attempt, materials, options), { fieldManager: FIELD_MANAGER, signal })
      } catch (error) {
        if (!isApiError(error, 'already-exists') || !(await find(attempt, signal))) throw error
      }
    },
    inspect: async (attempt, signal) => {
      const job = await find(attempt, signal)
      if (!job) return { kind: 'absent' }
      const end = parseJobEnd(job, '')
      if (!end) return { kind: 'running' }
      return { kind: 'ended', end: parseJobEnd(job, await readTerminationMessages(client, job, signal)) ?? end }
    },
    cancel: async (attempt, signal) => {
      if (!(await find(attempt, signal))) return true
      // In the foreground: the Job is gone when its pod is.
      await client.delete(refOf(attempt), { propagation: 'Foreground', signal })
      return (await find(attempt, signal)) === undefined
    },
    cleanUp: async (attempt, signal) => {
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
      .filter((ownerReference) => ownerReference.kind === ansibleRuns.kind)
      .map(({ name }) => objectKey({ name, ...(metadata.namespace && { namespace: metadata.namespace }) })),
}

async function readTerminationMessages(client: KubeClient, job: KubeObject, signal: AbortSignal): Promise<string> {
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
