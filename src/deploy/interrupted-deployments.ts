/**
 * Deletes running OpenStackDataPlaneDeployments only with the user's consent: hosts may stay partly configured. The webhook of
 * openstack-operator refuses the deletion until the object says that it is intended.
 */
import type { KubeObject } from '../api/object.ts'
import { formatObjectName } from '../api/raw-object.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { failure } from '../errors/failure.ts'
import type { KubeClient, KubeReader } from '../kube/client.ts'
import {
  CONFIRM_DELETE,
  DATA_PLANE_DEPLOYMENT,
  isDeletionConfirmed,
  isRunningDeployment,
} from '../verify/running-deployments.ts'
import { deploymentRuns } from './findings/down.ts'
import type { InventoryEntry } from './inventory.ts'
import { FIELD_MANAGER } from './object-changes.ts'

/** The running ones among objects that are to be deleted. */
export async function findRunningDeployments(
  refs: readonly InventoryEntry[],
  client: Pick<KubeReader, 'get'>,
): Promise<readonly KubeObject[]> {
  const deployments = refs.filter((ref) => formatGroupKind(ref) === DATA_PLANE_DEPLOYMENT && !ref.adopted)
  const live = await Promise.all(deployments.map((ref) => client.get(ref)))
  return live.filter((object) => object !== undefined && isRunningDeployment(object)) as readonly KubeObject[]
}

/** Called before each deletion: a deployment may have started after the user was asked. */
export async function confirmDeletion(live: KubeObject, mayInterrupt: boolean, client: KubeClient): Promise<void> {
  if (!isRunningDeployment(live) || isDeletionConfirmed(live)) return
  if (!mayInterrupt) throw failure(deploymentRuns, { deployments: [formatObjectName(live)] }, { exitCode: 1 })
  const { apiVersion, kind, metadata } = live
  const { name, namespace = '' } = metadata
  const patch = { metadata: { annotations: { [CONFIRM_DELETE]: 'true' } } }
  await client.patch({ apiVersion, kind, namespace, name }, patch, { type: 'merge', fieldManager: FIELD_MANAGER })
}
