/** Reads the logs of Ansible runs from their pods, while these exist. Of a log that cannot be read, the termination message is taken. */

import { groupBy } from '../../api/collections.ts'
import type { KubeObject } from '../../api/object.ts'
import { getList, getString } from '../../api/raw-object.ts'
import { mapConcurrently } from '../../async/map-concurrently.ts'
import type { FailedRun, RunLog } from '../../hosts/run-logs.ts'
import { ApiError } from '../../kube/api-error.ts'
import type { Connection } from '../../kube/connect.ts'

const DEPLOYMENT_LABEL = 'openstackdataplanedeployment'
const SERVICE_LABEL = 'openstackdataplaneservice'
/** The failure and the recap are at the end. */
const LOG_LINES = 5_000
const CONCURRENT_READS = 8

export async function readRunLogs(
  { client, transport }: Pick<Connection, 'client' | 'transport'>,
  runs: readonly FailedRun[],
  signal: AbortSignal,
  which: 'failed' | 'all' = 'failed',
): Promise<readonly RunLog[]> {
  const logs = await mapConcurrently(runs, CONCURRENT_READS, (run) =>
    readOr([], async () => {
      const labelSelector = `${DEPLOYMENT_LABEL}=${run.deployment}`
      const { items } = await client.list(
        { apiVersion: 'v1', kind: 'Pod' },
        { namespace: run.namespace, labelSelector, signal },
      )
      const found = await Promise.all(lastPods(items, which).map((pod) => readLog(pod, run)))
      return found.flat()
    }),
  )
  return logs.flat()

  function readLog(pod: KubeObject, run: FailedRun): Promise<readonly RunLog[]> {
    const { metadata } = pod
    const service = metadata.labels?.[SERVICE_LABEL] ?? ''
    const path = `/api/v1/namespaces/${run.namespace}/pods/${metadata.name}/log?tailLines=${LOG_LINES}`
    const subject = `the log of Pod ${run.namespace}/${metadata.name}`
    return readOr([{ ...run, service, pod: metadata.name, output: lastWords(pod) }], async () => {
      const output = await transport.text({ method: 'GET', path, idempotent: true, signal, verb: 'get', subject })
      return [{ ...run, service, pod: metadata.name, output }]
    })
  }
}

/** The termination message, which may hold the end of the log: a user who may not read logs may see it. */
function lastWords(pod: KubeObject): string {
  return getList(pod, 'status', 'containerStatuses')
    .map((container) => getString(container, 'state', 'terminated', 'message') ?? '')
    .join('\n')
}

/** The last attempt of each service. */
function lastPods(pods: readonly KubeObject[], which: 'failed' | 'all'): readonly KubeObject[] {
  const selected = pods.filter((pod) => which === 'all' || getString(pod, 'status', 'phase') === 'Failed')
  const byService = groupBy(selected, ({ metadata }) => metadata.labels?.[SERVICE_LABEL] ?? '')
  return [...byService.values()].flatMap((attempts) =>
    attempts
      .toSorted((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1))
      .slice(-1),
  )
}

/** A pod that is gone, or whose log may not be read, does not stop the others. */
async function readOr<T>(missing: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (thrown) {
    if (thrown instanceof ApiError) return missing
    throw thrown
  }
}
