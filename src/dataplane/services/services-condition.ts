/** Phase 1 of a node in one condition: every service that is asked for or there, and what it waits for. */

import { objectKey } from '../../api/object.ts'
import { finding } from '../../errors/finding.ts'
import { type ConditionState, conditionError, conditionTrue, conditionWaiting, findCondition } from '../conditions.ts'
import { fieldOwnedByOther, malformedServiceAnnotation } from '../findings/data-plane.ts'
import type { DataPlaneNode } from '../kinds/node.ts'
import type { DataPlaneRole } from '../kinds/role.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { SERVICES_READY } from '../nodes/node-status.ts'
import { effectiveAnnotation } from '../rules/inheritance.ts'
import { readServiceRequest } from '../rules/service-annotation.ts'
import { decidePlacement } from '../rules/service-placement.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import { byNode, FIELD_MANAGER, type World } from '../world.ts'
import { desiredServiceSpec, driftedFields } from './placement-controller.ts'

export function servicesCondition(world: World, node: DataPlaneNode, role: DataPlaneRole | undefined): ConditionState {
  const all = world.services.flatMap((definition): readonly ConditionState[] => {
    const [object] = world.objectsOf(definition).byIndex(byNode, objectKey(node.metadata))
    const told = serviceCondition(definition, node, role, object)
    const held = object && fieldConflictCondition(world, definition, node, role, object)
    return told ? [held ?? told] : []
  })
  const unserved = world.unserved.flatMap(({ annotation }): readonly ConditionState[] =>
    readServiceRequest(annotation, node, role).kind === 'wanted'
      ? [conditionWaiting(SERVICES_READY, `${annotation.kind.kind} is asked for, but its kinds are not served here`)]
      : [],
  )
  const worst =
    all.find(({ severity }) => severity === 'Error') ?? unserved[0] ?? all.find(({ status }) => status !== 'True')
  if (worst) return worst
  return conditionTrue(SERVICES_READY, all.length === 0 ? 'No services requested' : 'Services ready')
}

function serviceCondition(
  definition: ServiceDefinition,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  object: ServiceObject | undefined,
): ConditionState | undefined {
  const { annotation } = definition
  const { kind } = annotation.kind
  const asked = readServiceRequest(annotation, node, role)
  if (asked.kind === 'malformed') {
    const value = effectiveAnnotation(node, role, annotation.key) ?? ''
    const { why, remedy } = asked
    return conditionError(
      SERVICES_READY,
      finding(malformedServiceAnnotation, { key: annotation.key, value, why, remedy }),
    )
  }
  const place = decidePlacement(annotation, node, role, object)
  if (place.kind === 'refused') return conditionError(SERVICES_READY, place.finding)
  if (object) return objectCondition(object, kind)
  return asked.kind === 'wanted' ? conditionWaiting(SERVICES_READY, `${kind} is not there yet`) : undefined
}

/** A field that follows from the node, but that somebody else has set to something else and does not let go. */
function fieldConflictCondition(
  world: World,
  { annotation }: ServiceDefinition,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  object: ServiceObject,
): ConditionState | undefined {
  const place = decidePlacement(annotation, node, role, object)
  if (place.kind !== 'kept' || object.metadata.deletionTimestamp) return undefined
  const held = effectiveAnnotation(node, role, annotation.holdKey) === 'false'
  const { effective } = world.derived(node, role)
  const [first] = driftedFields(object, desiredServiceSpec(effective, held, place.fields)).flatMap((field) => {
    const manager = findOtherManager(object, field)
    return manager === undefined ? [] : [`${manager} holds .spec.${field}`]
  })
  if (first === undefined) return undefined
  const facts = { kind: annotation.kind.kind, name: object.metadata.name, why: first }
  return conditionError(SERVICES_READY, finding(fieldOwnedByOther, facts))
}

function findOtherManager({ metadata }: ServiceObject, field: string): string | undefined {
  const holds = (fields: unknown): boolean => {
    const spec = (fields as { readonly 'f:spec'?: Readonly<Record<string, unknown>> } | undefined)?.['f:spec']
    return spec?.[`f:${field}`] !== undefined
  }
  return (metadata.managedFields ?? []).find(({ manager, fieldsV1 }) => manager !== FIELD_MANAGER && holds(fieldsV1))
    ?.manager
}

function objectCondition({ status, metadata }: ServiceObject, kind: string): ConditionState {
  const ready = findCondition(status?.conditions, 'Ready')
  if (ready?.status === 'True' && status?.observedGeneration === metadata.generation) {
    return conditionTrue(SERVICES_READY, `${kind} ready`)
  }
  const message = `${kind}: ${ready?.message ?? 'not looked at yet'}`
  const severity = ready?.severity as ConditionState['severity']
  return { ...conditionWaiting(SERVICES_READY, message, ready?.reason ?? 'Requested'), ...(severity && { severity }) }
}
