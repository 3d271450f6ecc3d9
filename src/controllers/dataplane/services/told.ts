/** Phase 1 of a node in one condition: every service that is asked for or there, and what it waits for. */

import { effectiveAnnotation } from '../../../api/dataplane-inheritance.ts'
import type { DataPlaneNode } from '../../../api/dataplane-node.ts'
import type { DataPlaneRole } from '../../../api/dataplane-role.ts'
import { keyOf } from '../../../api/object.ts'
import { askedOf } from '../../../api/service-annotation.ts'
import type { ServiceObject } from '../../../api/service-cr.ts'
import { placement } from '../../../api/service-placement.ts'
import { fieldOwnedByOther, malformedServiceAnnotation } from '../../../errors/dataplane.ts'
import { finding } from '../../../errors/finding.ts'
import type { ServiceDefinition } from '../../../node-services/definition.ts'
import { conditionOf, isTrue, isWrong, type Told, waits } from '../conditions.ts'
import { SERVICES } from '../nodes/status.ts'
import { byNode, FIELD_MANAGER, type World } from '../world.ts'
import { followingSpec, strayedFields } from './creator.ts'

export function servicesTold(world: World, node: DataPlaneNode, role: DataPlaneRole | undefined): Told {
  const all = world.services.flatMap((definition): readonly Told[] => {
    const [object] = world.objectsOf(definition).by(byNode, keyOf(node.metadata))
    const told = serviceTold(definition, node, role, object)
    const held = object && heldByOther(world, definition, node, role, object)
    return told ? [held ?? told] : []
  })
  const unserved = world.unserved.flatMap(({ annotation }): readonly Told[] =>
    askedOf(annotation, node, role).kind === 'wanted'
      ? [waits(SERVICES, `${annotation.kind.kind} is asked for, but its kinds are not served here`)]
      : [],
  )
  const worst =
    all.find(({ severity }) => severity === 'Error') ??
    unserved[0] ??
    all.find(({ status }) => status !== 'True')
  if (worst) return worst
  return isTrue(SERVICES, all.length === 0 ? 'No services requested' : 'Services ready')
}

function serviceTold(
  definition: ServiceDefinition,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  object: ServiceObject | undefined,
): Told | undefined {
  const { annotation } = definition
  const { kind } = annotation.kind
  const asked = askedOf(annotation, node, role)
  if (asked.kind === 'malformed') {
    const value = effectiveAnnotation(node, role, annotation.key) ?? ''
    const { why, remedy } = asked
    return isWrong(SERVICES, finding(malformedServiceAnnotation, { key: annotation.key, value, why, remedy }))
  }
  const place = placement(annotation, node, role, object)
  if (place.kind === 'refused') return isWrong(SERVICES, place.finding)
  if (object) return objectTold(object, kind)
  return asked.kind === 'wanted' ? waits(SERVICES, `${kind} is not there yet`) : undefined
}

/** A field that follows from the node, but that somebody else has set to something else and does not let go. */
function heldByOther(
  world: World,
  { annotation }: ServiceDefinition,
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  object: ServiceObject,
): Told | undefined {
  const place = placement(annotation, node, role, object)
  if (place.kind !== 'kept' || object.metadata.deletionTimestamp) return undefined
  const held = effectiveAnnotation(node, role, annotation.holdKey) === 'false'
  const { effective } = world.derived(node, role)
  const [first] = strayedFields(object, followingSpec(effective, held, place.fields)).flatMap((field) => {
    const manager = otherManagerOf(object, field)
    return manager === undefined ? [] : [`${manager} holds .spec.${field}`]
  })
  if (first === undefined) return undefined
  const facts = { kind: annotation.kind.kind, name: object.metadata.name, why: first }
  return isWrong(SERVICES, finding(fieldOwnedByOther, facts))
}

function otherManagerOf({ metadata }: ServiceObject, field: string): string | undefined {
  const holds = (fields: unknown): boolean => {
    const spec = (fields as { readonly 'f:spec'?: Readonly<Record<string, unknown>> } | undefined)?.['f:spec']
    return spec?.[`f:${field}`] !== undefined
  }
  return (metadata.managedFields ?? []).find(
    ({ manager, fieldsV1 }) => manager !== FIELD_MANAGER && holds(fieldsV1),
  )?.manager
}

function objectTold({ status, metadata }: ServiceObject, kind: string): Told {
  const ready = conditionOf(status?.conditions, 'Ready')
  if (ready?.status === 'True' && status?.observedGeneration === metadata.generation) {
    return isTrue(SERVICES, `${kind} ready`)
  }
  const message = `${kind}: ${ready?.message ?? 'not looked at yet'}`
  const severity = ready?.severity as Told['severity']
  return { ...waits(SERVICES, message, ready?.reason ?? 'Requested'), ...(severity && { severity }) }
}
