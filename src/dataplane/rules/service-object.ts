/** Checks service objects (NovaExternalCompute, OVNMetadataAgent, …) beyond their schemas, for webhooks and controllers alike. */
import { finding } from '../../errors/finding.ts'
import type { BindingRule } from '../../ini/binding.ts'
import { checkIni } from '../../ini/check.ts'
import type { Assignment } from '../../ini/parse.ts'
import { malformedServiceAnnotation } from '../findings/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import type { FieldFinding } from './role-and-node.ts'
import type { ServiceAnnotation } from './service-annotation.ts'

export interface ServiceObjectRules {
  readonly binding: readonly BindingRule[]
  readonly annotation: ServiceAnnotation
}

/** `generated`: the options of the generated configuration, where it is known. */
export function checkServiceObject(
  { spec }: ServiceObject,
  { binding, annotation }: ServiceObjectRules,
  generated?: readonly Assignment[],
): readonly FieldFinding[] {
  const config = checkIni(spec.customServiceConfig ?? '', { binding, ...(generated && { generated }) })
  return [
    ...config.map((found) => ({
      field: 'spec.customServiceConfig',
      // The text may contain secrets: it is not repeated.
      value: undefined,
      finding: found,
    })),
    ...checkBoundField(spec, annotation),
  ]
}

/** What binds the service is written as in the annotation. */
function checkBoundField(
  spec: ServiceObject['spec'],
  { immutableField, key, parse }: ServiceAnnotation,
): readonly FieldFinding[] {
  const value = immutableField === undefined ? undefined : (spec[immutableField] as string | undefined)
  if (immutableField === undefined || !value) return []
  const request = parse(value)
  if (request.kind !== 'malformed') return []
  const { why, remedy } = request
  const malformed = finding(malformedServiceAnnotation, { key, value, why, remedy })
  return [{ field: `spec.${immutableField}`, value, finding: malformed }]
}
