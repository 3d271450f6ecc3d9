/**
 * The webhooks of service objects (NovaExternalCompute, OVNMetadataAgent, …): configuration that oslo.config would refuse
 * or misread, options that bind the service, and images at creation.
 */

import type { Violation } from '../../api/violation.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { checkAnsibleVars } from '../../ini/ansible-vars.ts'
import { checkIni } from '../../ini/check.ts'
import { parseIni } from '../../ini/parse.ts'
import type { AdmissionHandler } from '../../kube/admission.ts'
import { allowed, buildAnswer } from '../../webhooks/admission-answer.ts'
import { deprecatedField, malformedServiceAnnotation } from '../findings/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { resolveNode } from '../rules/inheritance.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import { type Environment, missingImages } from '../service-definitions/images.ts'
import type { DataPlaneLookup } from './lookup.ts'
import { findingDetail } from './role-and-node.ts'

/** What the webhooks know of a service. */
export type ServiceRules = Pick<ServiceDefinition, 'crd' | 'annotation' | 'images' | 'binding' | 'deprecated'>

export function validateService(view: DataPlaneLookup, rules: ServiceRules): AdmissionHandler {
  return (request) => {
    const service = request.object as ServiceObject
    if (service.metadata.deletionTimestamp) return allowed
    const old = (request.oldObject ?? undefined) as ServiceObject | undefined
    const violations = [...configViolations(service, rules), ...immutableFieldViolations(service, rules)]
    // What is stored already can be edited: only what the change brings is refused.
    const before = new Set(
      old ? [...configViolations(old, rules), ...immutableFieldViolations(old, rules)].map(({ detail }) => detail) : [],
    )
    const isNew = ({ detail }: Violation): boolean => !before.has(detail)
    const errors = violations.filter(({ severity }) => severity === 'error')
    const rest = [
      ...violations.filter(({ severity }) => severity !== 'error'),
      ...errors.filter((error) => !isNew(error)),
      ...deprecatedFieldWarnings(service, rules),
      ...hiddenOptionWarnings(view, request.namespace ?? '', service),
    ]
    return buildAnswer(request, { refusals: errors.filter(isNew), warnings: rest })
  }
}

type SevereViolation = Violation & { readonly severity: Finding['severity'] }

function configViolations({ spec }: ServiceObject, { binding }: ServiceRules): readonly SevereViolation[] {
  const field = 'spec.customServiceConfig'
  // The text may hold secrets: it is not repeated.
  return checkIni(spec.customServiceConfig ?? '', { binding }).map((finding) => toViolation(field, undefined, finding))
}

function immutableFieldViolations({ spec }: ServiceObject, { annotation }: ServiceRules): readonly SevereViolation[] {
  const { immutableField, key } = annotation
  const value = immutableField === undefined ? undefined : (spec[immutableField] as string | undefined)
  if (immutableField === undefined || !value) return []
  const asked = annotation.parse(value)
  if (asked.kind !== 'malformed') return []
  const { why, remedy } = asked
  return [
    toViolation(`spec.${immutableField}`, value, finding(malformedServiceAnnotation, { key, value, why, remedy })),
  ]
}

function toViolation(field: string, value: unknown, one: Finding): SevereViolation {
  return { field, value, detail: findingDetail(one), rule: 'own', severity: one.severity }
}

function deprecatedFieldWarnings(
  { spec }: ServiceObject,
  { deprecated = {} }: ServiceRules,
): readonly SevereViolation[] {
  return Object.entries(deprecated).flatMap(([name, instead]) => {
    const field = `spec.${name}`
    return spec[name] ? [toViolation(field, spec[name], finding(deprecatedField, { field, instead }))] : []
  })
}

/** Options that the node's Ansible variables set behind the back of the files. */
function hiddenOptionWarnings(
  view: DataPlaneLookup,
  namespace: string,
  { spec, metadata }: ServiceObject,
): readonly SevereViolation[] {
  const parts = view.cached(namespace)
  const node = parts.node(spec.dataplaneNodeName ?? metadata.name)
  if (!node) return []
  const { vars } = resolveNode(node, node.spec.role ? parts.role(node.spec.role) : undefined)
  const { assignments } = parseIni(spec.customServiceConfig ?? '')
  return checkAnsibleVars(vars, assignments).map((checkAnsibleVariable) =>
    toViolation('spec.customServiceConfig', undefined, checkAnsibleVariable),
  )
}

/** Images are filled in once, when the object is made: a later change of the environment changes nothing. */
export function defaultService(env: Environment, { images }: Pick<ServiceRules, 'images'>): AdmissionHandler {
  return (request) => {
    const { spec = {} } = request.object as Partial<ServiceObject>
    const missing = missingImages(images, spec, env)
    const patch = Object.entries(missing).map(([field, value]) => ({
      op: 'add' as const,
      path: `/spec/${field}`,
      value,
    }))
    return { allowed: true, ...(patch.length > 0 && { patch }) }
  }
}
