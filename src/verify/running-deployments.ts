/** Tells whether an OpenStackDataPlaneDeployment may be deleted, as the webhook of openstack-operator decides. Pure. */
import type { KubeObject } from '../api/object.ts'
import { findCondition } from '../api/raw-object.ts'
import { formatGroupKind } from '../api/snapshot.ts'

export const DATA_PLANE_DEPLOYMENT = 'dataplane.openstack.org/OpenStackDataPlaneDeployment'

/** With the value `true` the webhook lets a running deployment be deleted. */
export const CONFIRM_DELETE = 'dataplane.openstack.org/confirm-delete'

/** Ansible is configuring hosts. The webhook reads the same condition and reason. */
export function isRunningDeployment(object: KubeObject): boolean {
  return (
    formatGroupKind(object) === DATA_PLANE_DEPLOYMENT &&
    findCondition(object, 'DeploymentReady')?.reason === 'Requested'
  )
}

export function isDeletionConfirmed({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[CONFIRM_DELETE] === 'true'
}
