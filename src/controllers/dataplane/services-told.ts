/** Phase 1 of a node in one condition: every service that is asked for or there, and what it waits for. */

import { effectiveAnnotation } from '../../api/dataplane-inheritance.ts'
import type { DataPlaneNode } from '../../api/dataplane-node.ts'
import type { DataPlaneRole } from '../../api/dataplane-role.ts'
import { keyOf } from '../../api/object.ts'
import { askedOf } from '../../api/service-annotation.ts'
import type { ServiceObject } from '../../api/service-cr.ts'
import { placement } from '../../api/service-placement.ts'
import { malformedServiceAnnotation } from '../../errors/dataplane.ts'
import { finding } from '../../errors/finding.ts'
import { conditionOf, isTrue, isWrong, type Told, waits } from './conditions.ts'
import { SERVICES } from './node-status.ts'
import type { ServiceDefinition } from './service-definition.ts'
import { byNode, type World } from './world.ts'

export function servicesTold(world: World, node: DataPlaneNode, role: DataPlaneRole | undefined): Told {
  const all = world.services.flatMap((definition): readonly Told[] => {
    const [object] = world.objectsOf(definition).by(byNode, keyOf(node.metadata))
    const told = serviceTold(definition, node, role, object)
    return told ? [told] : []
  })
  const worst =
    all.find(({ severity }) => severity === 'Error') ?? all.find(({ status }) => status !== 'True')
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

function objectTold({ status, metadata }: ServiceObject, kind: string): Told {
  const ready = conditionOf(status?.conditions, 'Ready')
  if (ready?.status === 'True' && status?.observedGeneration === metadata.generation) {
    return isTrue(SERVICES, `${kind} ready`)
  }
  const message = `${kind}: ${ready?.message ?? 'not looked at yet'}`
  const severity = ready?.severity as Told['severity']
  return { ...waits(SERVICES, message, ready?.reason ?? 'Requested'), ...(severity && { severity }) }
}
