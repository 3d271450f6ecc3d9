/**
 * Reconciles OpenStackDataPlane: applies the roles and nodes that it contains as separate objects.
 *
 * It applies only specs: annotations that a person set on a role or a node stay. A node that is removed from the object
 * is not deleted: that would decommission a host.
 */
import { type Condition, type GroupVersionKind, type KubeObject, objectKey } from '../../api/object.ts'
import { controllerReference, isOwnedBy } from '../../api/ownership.ts'
import { findCondition } from '../../api/raw-object.ts'
import { sameJson } from '../../api/same-json.ts'
import {
  conditionForFinding,
  conditionRequested,
  conditionTrue,
  readyCondition,
  worstSeverity,
} from '../../controllers/kit/conditions.ts'
import { findInTheWay, IN_THE_WAY_RESYNC_MS, tryOwnedWrite } from '../../controllers/kit/ownership.ts'
import { requeueOnConflict, type Writer } from '../../controllers/kit/writes.ts'
import type { Finding } from '../../errors/finding.ts'
import type { Controller } from '../../kube/controller.ts'
import type { Runtime } from '../../kube/runtime.ts'
import { type DataPlaneCaches, ownerKeys } from '../caches.ts'
import {
  type DataPlane,
  type DataPlaneRoleSpec,
  dataPlaneNodes,
  dataPlaneRoles,
  dataPlanes,
} from '../kinds/data-plane.ts'
import { checkObjectName } from '../rules/object-name.ts'
import { FIELD_MANAGER, writeStatus } from '../writes.ts'
import { conditionNotRequested, DEPLOYMENT_READY, SETUP_READY } from './node-status.ts'

export interface DataPlaneControllerDeps {
  readonly client: Pick<Runtime['client'], 'apply'>
  readonly caches: Pick<DataPlaneCaches, 'dataPlanes' | 'roles' | 'ofKind'>
  readonly statusWriter: Writer
}

export function dataPlaneController(deps: DataPlaneControllerDeps): Controller {
  const toOwner = ownerKeys(dataPlanes.kind)
  return {
    name: 'dataplane',
    watches: [{ kind: dataPlanes }, { kind: dataPlaneRoles, map: toOwner }, { kind: dataPlaneNodes, map: toOwner }],
    reconcile: requeueOnConflict(async (request, context) => {
      const dataPlane = deps.caches.dataPlanes.get(objectKey(request))
      if (!dataPlane || dataPlane.metadata.deletionTimestamp) return undefined
      const { refused, isComplete } = await applyRolesAndNodes(deps, dataPlane, context.signal)
      if (!isComplete) return { requeueAfterMs: 1 }
      const conditions = dataPlaneConditions(deps, dataPlane, refused)
      const deployed = conditions.find(({ type }) => type === DEPLOYMENT_READY)?.status === 'True'
      const { generation } = dataPlane.metadata
      const fields = { deployed, ...(generation !== undefined && { observedGeneration: generation }) }
      await writeStatus(deps.statusWriter, deps.caches.dataPlanes, dataPlane, { conditions, fields }, context)
      return refused && { requeueAfterMs: IN_THE_WAY_RESYNC_MS }
    }),
  }
}

/** One data plane may contain thousands of nodes: those of other namespaces must not wait for all of them. */
const MAX_WRITES = 100

interface AppliedParts {
  /** The first that cannot be applied. */
  readonly refused: Finding | undefined
  /** False when more are to be applied by the next reconcile. */
  readonly isComplete: boolean
}

async function applyRolesAndNodes(
  deps: DataPlaneControllerDeps,
  dataPlane: DataPlane,
  signal: AbortSignal,
): Promise<AppliedParts> {
  const { roles = {}, nodes = {} } = dataPlane.spec
  const children = [
    ...Object.entries(roles).map(([name, spec]) => ({
      kind: dataPlaneRoles,
      name,
      spec: resolveRoleSpec(dataPlane, spec),
    })),
    ...Object.entries(nodes).map(([name, spec]) => ({ kind: dataPlaneNodes, name, spec })),
  ]
  let refused: Finding | undefined
  let writes = 0
  for (const child of children) {
    const result = await applyChild(deps, dataPlane, child, signal)
    if (result === 'applied') writes += 1
    else if (result !== 'current') refused ??= result
    if (writes >= MAX_WRITES) return { refused, isComplete: false }
  }
  return { refused, isComplete: true }
}

/** The deployStrategy of a role wins over that of the data plane. */
function resolveRoleSpec({ metadata, spec }: DataPlane, role: DataPlaneRoleSpec): DataPlaneRoleSpec {
  const deployStrategy = role.deployStrategy ?? spec.deployStrategy
  return { dataPlane: metadata.name, ...role, ...(deployStrategy && { deployStrategy }) }
}

/** A finding where it cannot be applied: an object of another owner is in the way, or the API server refuses it. */
async function applyChild(
  { client, caches }: DataPlaneControllerDeps,
  dataPlane: DataPlane,
  { kind, name, spec }: { readonly kind: GroupVersionKind; readonly name: string; readonly spec: object },
  signal: AbortSignal,
): Promise<'applied' | 'current' | Finding> {
  const { namespace = '' } = dataPlane.metadata
  // Not left to the API server: thousands of wrong names would be as many requests.
  const [invalid] = checkObjectName(kind === dataPlaneRoles ? 'spec.roles' : 'spec.nodes', name)
  if (invalid) return invalid.finding
  const live = caches.ofKind(kind).get(objectKey({ namespace, name }))
  const isCurrent = live && sameJson(live['spec'], { ...(live['spec'] as object), ...spec })
  if (isCurrent && isOwnedBy(live, dataPlane)) return 'current'
  const owner = controllerReference({ ...dataPlane, ...dataPlanes })
  const child: KubeObject = { ...kind, metadata: { name, namespace, ownerReferences: [owner] }, spec }
  const inTheWay = findInTheWay(live, child)
  if (inTheWay) return inTheWay
  const write = await tryOwnedWrite(client.apply(child, { fieldManager: `${FIELD_MANAGER}-parts`, signal }))
  return write.kind === 'refused' ? write.finding : 'applied'
}

function dataPlaneConditions(
  { caches }: DataPlaneControllerDeps,
  dataPlane: DataPlane,
  refused: Finding | undefined,
): readonly Condition[] {
  const { namespace = '' } = dataPlane.metadata
  const names = Object.keys(dataPlane.spec.roles ?? {})
  const roles = names.map((name) => ({ name, role: caches.roles.get(objectKey({ namespace, name })) }))
  const setup = refused
    ? conditionForFinding(SETUP_READY, refused)
    : roles.every(({ role }) => role)
      ? conditionTrue(SETUP_READY, 'Setup complete')
      : conditionRequested(SETUP_READY, 'Setup started')
  const [open] = roles.flatMap(({ name, role }) => {
    const condition = role && findCondition(role, 'Ready')
    return condition?.status === 'True' ? [] : [{ name, condition }]
  })
  const deployment = !open
    ? conditionTrue(DEPLOYMENT_READY, 'Deployment completed')
    : open.condition?.reason === 'NotRequested'
      ? conditionNotRequested(DEPLOYMENT_READY, 'Deployment not started')
      : conditionRequested(DEPLOYMENT_READY, `role ${open.name}: ${open.condition?.message ?? 'not reconciled yet'}`)
  const conditions = [setup, deployment]
  return [readyCondition(conditions, worstSeverity, 'DataPlane ready'), ...conditions]
}
