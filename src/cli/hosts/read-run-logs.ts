/** Reads the logs of failed Ansible runs from their pods, while these exist. A log that cannot be read is left out. */

import { groupBy } from '../../api/collections.ts'
import type { KubeObject } from '../../api/object.ts'
import { getString } from '../../api/raw-object.ts'
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
): Promise<readonly RunLog[]> {
  const logs = await mapConcurrently(runs, CONCURRENT_READS, (run) =>
    readOr([], async () => {
      const labelSelector = `${DEPLOYMENT_LABEL}=${run.deployment}`
      const { items } = await client.list(
        { apiVersion: 'v1', kind: 'Pod' },
        { namespace: run.namespace, labelSelector, signal },
      )
      const found = await Promise.all(lastFailedPods(items).map((pod) => readLog(pod, run)))
      return found.flat()
    }),
  )
  return logs.flat()

  function readLog({ metadata }: KubeObject, run: FailedRun): Promise<readonly RunLog[]> {
    const path = `/api/v1/namespaces/${run.namespace}/pods/${metadata.name}/log?tailLines=${LOG_LINES}`
    const subject = `the log of Pod ${run.namespace}/${metadata.name}`
    return readOr([], async () => {
      const output = await transport.text({ method: 'GET', path, idempotent: true, signal, verb: 'get', subject })
      return [{ ...run, service: metadata.labels?.[SERVICE_LABEL] ?? '', output }]
    })
  }
}

/** The last attempt of each service. */
function lastFailedPods(pods: readonly KubeObject[]): readonly KubeObject[] {
  const failed = pods.filter((pod) => getString(pod, 'status', 'phase') === 'Failed')
  const byService = groupBy(failed, ({ metadata }) => metadata.labels?.[SERVICE_LABEL] ?? '')
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
