/** Reads the end of a container's log, with the rights of the user. */
import type { KubeObject } from '../../api/object.ts'
import type { LogOfContainer } from '../../console/views/pods-behind.ts'
import { formatError } from '../../errors/failure.ts'
import { ApiError } from '../../kube/api-error.ts'
import type { Connection } from '../../kube/connect.ts'

const LINES = 200
const MAX_BYTES = 128 << 10

/** Why the log cannot be read, in place of it: a pod may be gone, or may not have started. */
export async function readPodLog(
  { transport }: Pick<Connection, 'transport'>,
  { metadata: { namespace = '', name } }: KubeObject,
  { container, previous }: LogOfContainer,
  signal: AbortSignal,
): Promise<string> {
  const query = new URLSearchParams({
    tailLines: String(LINES),
    limitBytes: String(MAX_BYTES),
    ...(container !== undefined && { container }),
    ...(previous && { previous: 'true' }),
  })
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/log?${query.toString()}`
  const subject = `the log of Pod ${namespace}/${name}`
  try {
    return await transport.text({ method: 'GET', path, idempotent: true, signal, verb: 'get', subject })
  } catch (thrown) {
    if (thrown instanceof ApiError) return formatError(thrown)
    throw thrown
  }
}
