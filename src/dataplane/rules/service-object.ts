/** Checks service objects (NovaExternalCompute, OVNMetadataAgent, …) beyond their schemas, for webhooks and controllers alike. */
import { finding } from '../../errors/finding.ts'
import type { BindingRule } from '../../ini/binding.ts'
import { checkIni } from '../../ini/check.ts'
import type { Assignment } from '../../ini/parse.ts'
import { malformedServiceAnnotation, notAnImage } from '../findings/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import type { FieldFinding } from './role-and-node.ts'
import type { ServiceAnnotation } from './service-annotation.ts'

export interface ServiceObjectRules {
  readonly binding: readonly BindingRule[]
  readonly annotation: ServiceAnnotation
  /** By field. */
  readonly images: Readonly<Record<string, unknown>>
}

/** Registry, path, tag and digest: nothing that a unit of systemd, Podman or Ansible reads as more than text. */
const IMAGE = /^[A-Za-z0-9[][\w.:/@[\]-]{0,1023}$/

/** `generated`: the options of the generated configuration, where it is known. */
export function checkServiceObject(
  { spec }: ServiceObject,
  { binding, annotation, images }: ServiceObjectRules,
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
    ...Object.keys(images).flatMap((name) => checkImage(name, spec[name])),
  ]
}

function checkImage(name: string, value: unknown): readonly FieldFinding[] {
  if (typeof value !== 'string' || value === '' || IMAGE.test(value)) return []
  const field = `spec.${name}`
  return [{ field, value, finding: finding(notAnImage, { field, value: value.slice(0, 200) }) }]
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
