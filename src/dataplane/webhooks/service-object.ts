/**
 * Validates and defaults service objects (NovaExternalCompute, OVNMetadataAgent, …): configuration that oslo.config would
 * refuse or misread, options that bind the service, and images at creation.
 */
import type { Violation } from '../../api/violation.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { checkAnsibleVars } from '../../ini/ansible-vars.ts'
import { parseIni } from '../../ini/parse.ts'
import type { AdmissionHandler } from '../../kube/admission.ts'
import { allowed, buildAnswer } from '../../webhooks/admission-answer.ts'
import { deprecatedField } from '../findings/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { resolveNode } from '../rules/inheritance.ts'
import { checkServiceObject } from '../rules/service-object.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import { type Environment, missingImages } from '../service-definitions/images.ts'
import { type DataPlaneLookup, findingDetail } from './role-and-node.ts'

/** What the webhooks use of a service definition. */
export type ServiceRules = Pick<ServiceDefinition, 'crd' | 'annotation' | 'images' | 'binding' | 'deprecated'>

export function validateService(lookup: DataPlaneLookup, rules: ServiceRules): AdmissionHandler {
  return (request) => {
    const service = request.object as ServiceObject
    if (service.metadata.deletionTimestamp) return allowed
    const old = (request.oldObject ?? undefined) as ServiceObject | undefined
    const check = (version: ServiceObject): readonly SevereViolation[] =>
      checkServiceObject(version, rules).map((found) => toViolation(found.field, found.value, found.finding))
    const violations = check(service)
    // Errors that are already stored only warn, so that the object can be edited.
    const stored = new Set(old ? check(old).map(({ detail }) => detail) : [])
    const isRefused = ({ detail, severity }: SevereViolation): boolean => severity === 'error' && !stored.has(detail)
    const warnings = [
      ...violations.filter((violation) => violation.severity !== 'error'),
      ...violations.filter((violation) => violation.severity === 'error' && !isRefused(violation)),
      ...deprecatedFieldWarnings(service, rules),
      ...hiddenOptionWarnings(lookup, request.namespace ?? '', service),
    ]
    return buildAnswer(request, { refusals: violations.filter(isRefused), warnings })
  }
}

type SevereViolation = Violation & { readonly severity: Finding['severity'] }

function toViolation(field: string, value: unknown, found: Finding): SevereViolation {
  return { field, value, detail: findingDetail(found), rule: 'own', severity: found.severity }
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

/** Options that the node's Ansible variables set in addition to the files. */
function hiddenOptionWarnings(
  lookup: DataPlaneLookup,
  namespace: string,
  { spec, metadata }: ServiceObject,
): readonly SevereViolation[] {
  const objects = lookup.cached(namespace)
  const node = objects?.node(spec.dataplaneNodeName ?? metadata.name)
  if (!objects || !node) return []
  const { vars } = resolveNode(node, node.spec.role ? objects.role(node.spec.role) : undefined)
  const { assignments } = parseIni(spec.customServiceConfig ?? '')
  const findings = checkAnsibleVars(vars, assignments)
  return findings.map((found) => toViolation('spec.customServiceConfig', undefined, found))
}

/** Images are set once, at creation: a later change of the environment does not change them. */
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
