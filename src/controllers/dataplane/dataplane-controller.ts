/**
 * OpenStackDataPlane: roles and nodes in one object, applied as objects of their own.
 *
 * Only specs are applied: annotations that a person put on a role or a node stay. What is taken out of the object is not
 * deleted, because a node is more than a line in a list.
 */

import { type DataPlane, type DataPlaneRoleSpec, dataPlanes } from '../../api/dataplane.ts'
import { dataPlaneNodes } from '../../api/dataplane-node.ts'
import { dataPlaneRoles } from '../../api/dataplane-role.ts'
import { type GroupVersionKind, type KubeObject, keyOf } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import type { Controller } from '../../kube/controller.ts'
import { calmly } from '../calmly.ts'
import { conditionOf, isTrue, notRequested, readyOf, type Told, waits } from './conditions.ts'
import { DEPLOYMENT, SETUP } from './nodes/status.ts'
import { FIELD_MANAGER, type World } from './world.ts'
import { writeStatus } from './writes.ts'

export function dataPlaneController(world: World): Controller {
  const toOwner = ({ metadata }: KubeObject): readonly string[] =>
    (metadata.ownerReferences ?? [])
      .filter(({ kind }) => kind === dataPlanes.kind)
      .map(({ name }) => keyOf({ namespace: metadata.namespace ?? '', name }))
  return {
    name: 'dataplane',
    watches: [
      { kind: dataPlanes },
      { kind: dataPlaneRoles, map: toOwner },
      { kind: dataPlaneNodes, map: toOwner },
    ],
    reconcile: calmly(async (request, context) => {
      const plane = world.dataPlanes.get(keyOf(request))
      if (!plane || plane.metadata.deletionTimestamp) return
      await keepParts(world, plane, context.signal)
      const told = toldOf(world, plane)
      const deployed = told.find(({ type }) => type === DEPLOYMENT)?.status === 'True'
      const { generation } = plane.metadata
      const fields = { deployed, ...(generation !== undefined && { observedGeneration: generation }) }
      await writeStatus(world, world.dataPlanes, plane, { told, fields }, context)
    }),
  }
}

async function keepParts(world: World, plane: DataPlane, signal: AbortSignal): Promise<void> {
  const { roles = {}, nodes = {} } = plane.spec
  for (const [name, spec] of Object.entries(roles)) {
    await keep(world, plane, { kind: dataPlaneRoles, name, spec: roleSpec(plane, spec) }, signal)
  }
  for (const [name, spec] of Object.entries(nodes))
    await keep(world, plane, { kind: dataPlaneNodes, name, spec }, signal)
}

/** A role's own deployStrategy wins over that of the whole. */
function roleSpec({ metadata, spec }: DataPlane, role: DataPlaneRoleSpec): DataPlaneRoleSpec {
  const deployStrategy = role.deployStrategy ?? spec.deployStrategy
  return { dataPlane: metadata.name, ...role, ...(deployStrategy && { deployStrategy }) }
}

async function keep(
  world: World,
  plane: DataPlane,
  { kind, name, spec }: { readonly kind: GroupVersionKind; readonly name: string; readonly spec: object },
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', uid = '' } = plane.metadata
  const existing = world.cacheOf(kind).get(keyOf({ namespace, name }))
  const owned = existing?.metadata.ownerReferences?.some((one) => one.uid === uid) ?? false
  if (existing && owned && sameJson(existing['spec'], { ...(existing['spec'] as object), ...spec })) return
  const object: KubeObject = {
    ...kind,
    metadata: {
      name,
      namespace,
      ownerReferences: [
        { ...dataPlanes, name: plane.metadata.name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec,
  }
  await world.client.apply(object, { fieldManager: `${FIELD_MANAGER}-parts`, signal })
}

function toldOf(world: World, plane: DataPlane): readonly Told[] {
  const { namespace = '' } = plane.metadata
  const names = Object.keys(plane.spec.roles ?? {})
  const roles = names.map((name) => ({ name, role: world.roles.get(keyOf({ namespace, name })) }))
  const missing = roles.filter(({ role }) => !role)
  const setup = missing.length === 0 ? isTrue(SETUP, 'Setup complete') : waits(SETUP, 'Setup started')
  const open = roles.flatMap(({ name, role }) => {
    const condition = conditionOf(role?.status?.conditions, 'Ready')
    return condition?.status === 'True' ? [] : [{ name, condition }]
  })
  const [first] = open
  const deployment = !first
    ? isTrue(DEPLOYMENT, 'Deployment completed')
    : first.condition?.reason === 'NotRequested'
      ? notRequested(DEPLOYMENT, 'Deployment not started')
      : waits(DEPLOYMENT, `role ${first.name}: ${first.condition?.message ?? 'not looked at yet'}`)
  const all = [setup, deployment]
  return [readyOf(all, 'DataPlane ready'), ...all]
}
