/** Summarizes phase 1 of a node in one condition: every service that is requested or exists, and what it waits for. */
import { type Condition, objectKey } from '../../api/object.ts'
import { findCondition } from '../../api/raw-object.ts'
import { conditionForFinding, conditionRequested, conditionTrue } from '../../controllers/kit/conditions.ts'
import { finding } from '../../errors/finding.ts'
import { byNode, type DataPlaneCaches } from '../caches.ts'
import { fieldOwnedByOther, malformedServiceAnnotation } from '../findings/data-plane.ts'
import type { DataPlaneNode, DataPlaneRole } from '../kinds/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { SERVICES_READY } from '../nodes/node-status.ts'
import type { NodeViews } from '../nodes/node-view.ts'
import { effectiveAnnotation } from '../rules/inheritance.ts'
import { readServiceRequest } from '../rules/service-annotation.ts'
import { decidePlacement } from '../rules/service-placement.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import { FIELD_MANAGER } from '../writes.ts'
import { desiredServiceSpec, driftedFields } from './placement-controller.ts'

export interface ServicesConditionDeps {
  readonly caches: Pick<DataPlaneCaches, 'serviceObjects'>
  readonly views: Pick<NodeViews, 'settings'>
  readonly services: readonly ServiceDefinition[]
  readonly unserved: readonly ServiceDefinition[]
}

export function servicesCondition(
  { caches, views, services, unserved }: ServicesConditionDeps,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
): Condition {
  const conditions = services.flatMap((definition): readonly Condition[] => {
    const [object] = caches.serviceObjects(definition).byIndex(byNode, objectKey(node.metadata))
    const condition = serviceCondition(definition, node, role, object)
    const conflict = object && fieldConflictCondition(views, definition, node, role, object)
    return condition ? [conflict ?? condition] : []
  })
  const unservedConditions = unserved.flatMap(({ annotation }): readonly Condition[] =>
    readServiceRequest(annotation, node, role).kind === 'requested'
      ? [conditionRequested(SERVICES_READY, `${annotation.kind.kind} is requested, but this cluster does not serve it`)]
      : [],
  )
  const worst =
    conditions.find(({ severity }) => severity === 'Error') ??
    unservedConditions[0] ??
    conditions.find(({ status }) => status !== 'True')
  return worst ?? conditionTrue(SERVICES_READY, conditions.length === 0 ? 'No services requested' : 'Services ready')
}

function serviceCondition(
  { annotation }: ServiceDefinition,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  object: ServiceObject | undefined,
): Condition | undefined {
  const { key } = annotation
  const { kind } = annotation.kind
  const request = readServiceRequest(annotation, node, role)
  if (request.kind === 'malformed') {
    const value = effectiveAnnotation(node, role, key) ?? ''
    const { why, remedy } = request
    return conditionForFinding(SERVICES_READY, finding(malformedServiceAnnotation, { key, value, why, remedy }))
  }
  const placement = decidePlacement(annotation, node, role, object)
  if (placement.kind === 'refused') return conditionForFinding(SERVICES_READY, placement.finding)
  if (object) return objectCondition(object, kind)
  return request.kind === 'requested' ? conditionRequested(SERVICES_READY, `${kind} does not exist yet`) : undefined
}

/** For a field that follows from the node and that another field manager set to another value. */
function fieldConflictCondition(
  views: ServicesConditionDeps['views'],
  { annotation }: ServiceDefinition,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  object: ServiceObject,
): Condition | undefined {
  const placement = decidePlacement(annotation, node, role, object)
  if (placement.kind !== 'kept' || object.metadata.deletionTimestamp) return undefined
  const isHeld = effectiveAnnotation(node, role, annotation.holdKey) === 'false'
  const { effective } = views.settings(node, role)
  const drifted = driftedFields(object, desiredServiceSpec(effective, isHeld, placement.fields))
  const [conflict] = drifted.flatMap((field) => {
    const manager = findOtherManager(object, field)
    return manager === undefined ? [] : [`${manager} holds .spec.${field}`]
  })
  if (conflict === undefined) return undefined
  const facts = { kind: annotation.kind.kind, name: object.metadata.name, why: conflict }
  return conditionForFinding(SERVICES_READY, finding(fieldOwnedByOther, facts))
}

function findOtherManager({ metadata }: ServiceObject, field: string): string | undefined {
  const ownsField = (fields: unknown): boolean => {
    const spec = (fields as { readonly 'f:spec'?: Readonly<Record<string, unknown>> } | undefined)?.['f:spec']
    return spec?.[`f:${field}`] !== undefined
  }
  return (metadata.managedFields ?? []).find(
    ({ manager, fieldsV1 }) => manager !== FIELD_MANAGER && ownsField(fieldsV1),
  )?.manager
}

function objectCondition(object: ServiceObject, kind: string): Condition {
  const ready = findCondition(object, 'Ready')
  if (ready?.status === 'True' && object.status?.observedGeneration === object.metadata.generation) {
    return conditionTrue(SERVICES_READY, `${kind} ready`)
  }
  const message = `${kind}: ${ready?.message ?? 'not reconciled yet'}`
  const severity = ready?.severity
  return {
    ...conditionRequested(SERVICES_READY, message, ready?.reason ?? 'Requested'),
    ...(severity && { severity }),
  }
}
