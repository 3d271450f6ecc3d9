/** Whether the operator may work in a cluster: what it needs is served, and nobody else does the same work. */
import type { GroupVersionKind } from '../../api/object.ts'
import { failure } from '../../errors/failure.ts'
import { infraOperatorRuns, kindsMissing } from '../../errors/operator.ts'
import type { KubeReader } from '../../kube/client.ts'

export const RIVAL = 'infra-operator-controller-manager'

export async function refuseMissingKinds(
  client: Pick<KubeReader, 'resource'>,
  kinds: readonly GroupVersionKind[],
): Promise<void> {
  const served = await Promise.all(kinds.map((kind) => client.resource(kind)))
  const missing = kinds
    .filter((_, index) => !served[index])
    .map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)
  if (missing.length > 0) throw failure(kindsMissing, { missing }, { exitCode: 2 })
}

/** One that is scaled to zero is there and does nothing: that is how addresses are handed over. */
export async function refuseRival(client: Pick<KubeReader, 'list'>, signal: AbortSignal): Promise<void> {
  const { items } = await client.list(
    { apiVersion: 'apps/v1', kind: 'Deployment' },
    { fieldSelector: `metadata.name=${RIVAL}`, signal },
  )
  const rival = items.find((one) => (one['spec'] as { replicas?: number } | undefined)?.replicas !== 0)
  if (!rival) return
  const { namespace = '', name } = rival.metadata
  throw failure(infraOperatorRuns, { deployment: `${namespace}/${name}` }, { exitCode: 1 })
}
