/**
 * The webhooks of service objects (NovaExternalCompute, OVNMetadataAgent, …): configuration that oslo.config would refuse
 * or misread, options that bind the service, and images at creation.
 */
import { effectiveOf } from '../api/dataplane-inheritance.ts'
import type { ServiceObject } from '../api/service-cr.ts'
import { type Environment, missingImages } from '../api/service-images.ts'
import type { Violation } from '../api/violation.ts'
import { deprecatedField, malformedServiceAnnotation } from '../errors/dataplane.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { checkAnsibleVars } from '../ini/ansible-vars.ts'
import { checkIni } from '../ini/check.ts'
import { parseIni } from '../ini/parse.ts'
import type { AdmissionHandler } from '../kube/admission.ts'
import type { ServiceDefinition } from '../node-services/definition.ts'
import { allowed, answerOf } from './answer.ts'
import { said } from './data-plane.ts'
import type { DataPlaneView } from './data-plane-view.ts'

/** What the webhooks know of a service. */
export type ServiceRules = Pick<ServiceDefinition, 'crd' | 'annotation' | 'images' | 'binding' | 'deprecated'>

export function validateService(view: DataPlaneView, rules: ServiceRules): AdmissionHandler {
  return (request) => {
    const service = request.object as ServiceObject
    if (service.metadata.deletionTimestamp) return allowed
    const old = (request.oldObject ?? undefined) as ServiceObject | undefined
    const violations = [...configViolations(service, rules), ...boundViolations(service, rules)]
    // What is stored already can be edited: only what the change brings is refused.
    const before = new Set(
      old
        ? [...configViolations(old, rules), ...boundViolations(old, rules)].map(({ detail }) => detail)
        : [],
    )
    const isNew = ({ detail }: Violation): boolean => !before.has(detail)
    const errors = violations.filter(({ severity }) => severity === 'error')
    const rest = [
      ...violations.filter(({ severity }) => severity !== 'error'),
      ...errors.filter((one) => !isNew(one)),
      ...deprecatedFields(service, rules),
      ...hiddenOptions(view, request.namespace ?? '', service),
    ]
    return answerOf(request, { refusals: errors.filter(isNew), warnings: rest })
  }
}

type Judged = Violation & { readonly severity: Finding['severity'] }

function configViolations({ spec }: ServiceObject, { binding }: ServiceRules): readonly Judged[] {
  const field = 'spec.customServiceConfig'
  // The text may hold secrets: it is not repeated.
  return checkIni(spec.customServiceConfig ?? '', { binding }).map((one) => judged(field, undefined, one))
}

function boundViolations({ spec }: ServiceObject, { annotation }: ServiceRules): readonly Judged[] {
  const { bound, key } = annotation
  const value = bound === undefined ? undefined : (spec[bound] as string | undefined)
  if (bound === undefined || !value) return []
  const asked = annotation.read(value)
  if (asked.kind !== 'malformed') return []
  const { why, remedy } = asked
  return [judged(`spec.${bound}`, value, finding(malformedServiceAnnotation, { key, value, why, remedy }))]
}

function judged(field: string, value: unknown, one: Finding): Judged {
  return { field, value, detail: said(one), rule: 'own', severity: one.severity }
}

function deprecatedFields({ spec }: ServiceObject, { deprecated = {} }: ServiceRules): readonly Judged[] {
  return Object.entries(deprecated).flatMap(([name, instead]) => {
    const field = `spec.${name}`
    return spec[name] ? [judged(field, spec[name], finding(deprecatedField, { field, instead }))] : []
  })
}

/** Options that the node's Ansible variables set behind the back of the files. */
function hiddenOptions(
  view: DataPlaneView,
  namespace: string,
  { spec, metadata }: ServiceObject,
): readonly Judged[] {
  const parts = view.known(namespace)
  const node = parts.node(spec.dataplaneNodeName ?? metadata.name)
  if (!node) return []
  const { vars } = effectiveOf(node, node.spec.role ? parts.role(node.spec.role) : undefined)
  const { assignments } = parseIni(spec.customServiceConfig ?? '')
  return checkAnsibleVars(vars, assignments).map((one) => judged('spec.customServiceConfig', undefined, one))
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
