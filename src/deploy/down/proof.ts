/** The proof that nothing of ours is left: the server is asked anew, kind by kind, by our labels. */

import { formatObjectName } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { Failure } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'
import { CLOUD_LABEL, MANAGED_BY_LABEL } from '../../render/labels.ts'
import type { StageContext } from '../../run/stage.ts'
import { objectsRemain } from '../findings/down.ts'
import { type Inventory, SYSTEM_NAMESPACE } from '../inventory.ts'
import { retry } from '../retry.ts'
import type { DownDeps } from './world.ts'

/** Throws what is left; gives the number of kinds that were asked about. */
export async function verifyGone(inventory: Inventory, world: DownDeps, context: StageContext): Promise<number> {
  const { cloud, objects, namespace } = inventory
  const adopted = new Set(objects.filter((ref) => ref.adopted).map((ref) => `${formatGroupKind(ref)} ${ref.name}`))
  const kinds = [...new Map(objects.map((ref) => [formatGroupKind(ref), ref])).values()]
  const selector = `${MANAGED_BY_LABEL}=stackloom,${cloud === undefined ? `!${CLOUD_LABEL}` : `${CLOUD_LABEL}=${cloud}`}`
  const keepsData = await hasNamespace(namespace, world)
  const left: Finding[] = []
  for (const { apiVersion, kind } of kinds) {
    if (keepsData && (kind === 'Namespace' || kind === 'Secret' || kind === 'ConfigMap')) continue
    const list = () => world.client.list({ apiVersion, kind }, { labelSelector: selector })
    const { items } = await retry(list, context, world.patience).catch((thrown: unknown) => {
      if (isApiError(thrown, 'not-served')) return { items: [] }
      throw thrown
    })
    for (const item of items) {
      const object = { ...item, apiVersion, kind }
      // Inventories and the lease outlive the proof: they go with the last step.
      if (kind === 'Namespace' && object.metadata.name === SYSTEM_NAMESPACE) continue
      const ours = !adopted.has(`${formatGroupKind(object)} ${object.metadata.name}`)
      if (ours) left.push(finding(objectsRemain, { object: formatObjectName(object) }))
    }
  }
  if (left.length > 0) throw new Failure(left, 1)
  return kinds.length
}

/** The namespace of a cloud whose volumes stay is still there, and was said to be. */
async function hasNamespace(namespace: string | undefined, { client, deleteData }: DownDeps): Promise<boolean> {
  if (namespace === undefined || deleteData) return false
  const found = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
  return found !== undefined && found.metadata.deletionTimestamp === undefined
}
