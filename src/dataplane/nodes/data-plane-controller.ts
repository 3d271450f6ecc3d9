/**
 * OpenStackDataPlane: roles and nodes in one object, applied as objects of their own.
 *
 * Only specs are applied: annotations that a person put on a role or a node stay. What is taken out of the object is not
 * deleted, because a node is more than a line in a list.
 */

import { type GroupVersionKind, type KubeObject, objectKey } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import { requeueOnConflict } from '../../controllers/kit/writes.ts'
import type { Controller } from '../../kube/controller.ts'
import {
  type ConditionState,
  conditionNotRequested,
  conditionTrue,
  conditionWaiting,
  findCondition,
  summarizeReady,
} from '../conditions.ts'
import { type DataPlane, type DataPlaneRoleSpec, dataPlanes } from '../kinds/data-plane.ts'
import { dataPlaneNodes } from '../kinds/node.ts'
import { dataPlaneRoles } from '../kinds/role.ts'
import { FIELD_MANAGER, type World } from '../world.ts'
import { writeStatus } from '../writes.ts'
import { DEPLOYMENT_READY, SETUP_READY } from './node-status.ts'

export function dataPlaneController(world: World): Controller {
  const toOwner = ({ metadata }: KubeObject): readonly string[] =>
    (metadata.ownerReferences ?? [])
      .filter(({ kind }) => kind === dataPlanes.kind)
      .map(({ name }) => objectKey({ namespace: metadata.namespace ?? '', name }))
  return {
    name: 'dataplane',
    watches: [{ kind: dataPlanes }, { kind: dataPlaneRoles, map: toOwner }, { kind: dataPlaneNodes, map: toOwner }],
    reconcile: requeueOnConflict(async (request, context) => {
      const plane = world.dataPlanes.get(objectKey(request))
      if (!plane || plane.metadata.deletionTimestamp) return
      await applyRolesAndNodes(world, plane, context.signal)
      const told = dataPlaneConditions(world, plane)
      const deployed = told.find(({ type }) => type === DEPLOYMENT_READY)?.status === 'True'
      const { generation } = plane.metadata
      const fields = { deployed, ...(generation !== undefined && { observedGeneration: generation }) }
      await writeStatus(world, world.dataPlanes, plane, { told, fields }, context)
    }),
  }
}

async function applyRolesAndNodes(world: World, plane: DataPlane, signal: AbortSignal): Promise<void> {
  const { roles = {}, nodes = {} } = plane.spec
  for (const [name, spec] of Object.entries(roles)) {
    await applyChild(world, plane, { kind: dataPlaneRoles, name, spec: roleSpec(plane, spec) }, signal)
  }
  for (const [name, spec] of Object.entries(nodes))
    await applyChild(world, plane, { kind: dataPlaneNodes, name, spec }, signal)
}

/** A role's own deployStrategy wins over that of the whole. */
function roleSpec({ metadata, spec }: DataPlane, role: DataPlaneRoleSpec): DataPlaneRoleSpec {
  const deployStrategy = role.deployStrategy ?? spec.deployStrategy
  return { dataPlane: metadata.name, ...role, ...(deployStrategy && { deployStrategy }) }
}

async function applyChild(
  world: World,
  plane: DataPlane,
  { kind, name, spec }: { readonly kind: GroupVersionKind; readonly name: string; readonly spec: object },
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', uid = '' } = plane.metadata
  const existing = world.cacheOf(kind).get(objectKey({ namespace, name }))
  const owned = existing?.metadata.ownerReferences?.some((ownerReference) => ownerReference.uid === uid) ?? false
  if (existing && owned && sameJson(existing['spec'], { ...(existing['spec'] as object), ...spec })) return
  const object: KubeObject = {
    ...kind,
    metadata: {
      name,
      namespace,
      ownerReferences: [{ ...dataPlanes, name: plane.metadata.name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec,
  }
  await world.client.apply(object, { fieldManager: `${FIELD_MANAGER}-parts`, signal })
}

function dataPlaneConditions(world: World, plane: DataPlane): readonly ConditionState[] {
  const { namespace = '' } = plane.metadata
  const names = Object.keys(plane.spec.roles ?? {})
  const roles = names.map((name) => ({ name, role: world.roles.get(objectKey({ namespace, name })) }))
  const missing = roles.filter(({ role }) => !role)
  const setup =
    missing.length === 0 ? conditionTrue(SETUP_READY, 'Setup complete') : conditionWaiting(SETUP_READY, 'Setup started')
  const open = roles.flatMap(({ name, role }) => {
    const condition = findCondition(role?.status?.conditions, 'Ready')
    return condition?.status === 'True' ? [] : [{ name, condition }]
  })
  const [first] = open
  const deployment = !first
    ? conditionTrue(DEPLOYMENT_READY, 'Deployment completed')
    : first.condition?.reason === 'NotRequested'
      ? conditionNotRequested(DEPLOYMENT_READY, 'Deployment not started')
      : conditionWaiting(DEPLOYMENT_READY, `role ${first.name}: ${first.condition?.message ?? 'not looked at yet'}`)
  const all = [setup, deployment]
  return [summarizeReady(all, 'DataPlane ready'), ...all]
}
