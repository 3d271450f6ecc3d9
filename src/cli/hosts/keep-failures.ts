/** Keeps with a failed deployment on which hosts it failed, in which task and why: logs end with their pods. */
import { groupBy } from '../../api/collections.ts'
import type { KubeObject } from '../../api/object.ts'
import { isManagedByStackloom } from '../../api/ownership.ts'
import { getField } from '../../api/raw-object.ts'
import { HOSTS_LABEL } from '../../deploy/hosts/deploy-hosts.ts'
import { FIELD_MANAGER } from '../../deploy/object-changes.ts'
import { Failure } from '../../errors/failure.ts'
import { deploymentKind } from '../../hosts/data-plane.ts'
import { FAILURES_ANNOTATION, findFailures, formatFailures } from '../../hosts/kept-failures.ts'
import type { Connection } from '../../kube/connect.ts'
import { readRunLogs } from './read-run-logs.ts'

/** Only deployments of Stackloom get an annotation; a user without the right keeps none. */
export async function keepFailures(
  connection: Pick<Connection, 'client' | 'transport'>,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { client } = connection
  try {
    if (!(await client.resource(deploymentKind))) return
    for (const namespace of new Set(namespaces)) {
      const { items } = await client.list(deploymentKind, { namespace, signal })
      const runs = items.filter(isOurFailure).map(({ metadata }) => ({ namespace, deployment: metadata.name }))
      const logs = groupBy(await readRunLogs(connection, runs, signal), ({ deployment }) => deployment)
      for (const [name, found] of logs) {
        const failures = found.flatMap(findFailures)
        if (failures.length === 0) continue
        const patch = { metadata: { annotations: { [FAILURES_ANNOTATION]: formatFailures(failures) } } }
        const options = { type: 'merge', fieldManager: FIELD_MANAGER, signal } as const
        await client.patch({ ...deploymentKind, namespace, name }, patch, options)
      }
    }
  } catch (thrown) {
    // The result of the run is printed whatever happens here.
    if (!(thrown instanceof Failure)) throw thrown
  }
}

function isOurFailure(deployment: KubeObject): boolean {
  const { labels = {}, annotations = {} } = deployment.metadata
  const isOurs = isManagedByStackloom(deployment) || labels[HOSTS_LABEL] !== undefined
  return isOurs && annotations[FAILURES_ANNOTATION] === undefined && getField(deployment, 'status', 'deployed') !== true
}
