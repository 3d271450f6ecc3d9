/** What is to be said about a plan when it becomes documents: quorums, DNS, endpoints without a slot, overrides. */
import { type Finding, finding, hasErrors } from '../errors/finding.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { type LocatePath, serviceSettings } from '../plan/slots/cloud-services.ts'
import { checkRawFields } from '../plan/slots/raw-fields.ts'
import type { CrdFields } from '../plan/slots/slot-table.ts'
import { buildTemplateContext, dnsServers, type TemplateContext } from './control-plane/context.ts'
import { mergeRawFields, plannedSpec } from './control-plane/control-plane.ts'
import { listEndpoints } from './control-plane/endpoints.ts'
import { templates } from './control-plane/templates.ts'
import {
  endpointAddressShared,
  fewNodes,
  noDnsServer,
  noPlaceForAttachments,
  noSlotForEndpoint,
  prerequisites,
} from './findings.ts'
import { asFields } from './merge.ts'
import { networksAnnotation } from './networks-annotation.ts'
import { installRequirements } from './operators.ts'
import { lintOverrides } from './override-findings.ts'

export function lintDocuments(plan: Plan, fields: CrdFields | undefined, place: LocatePath): readonly Finding[] {
  const raw = plan.clouds.flatMap((cloud) => checkRawFields(cloud.from, fields, place))
  // A plan with errors may have holes that documents cannot be made of.
  if (hasErrors(plan.findings)) return raw
  const { nodes } = plan.from.cluster
  const needed = installRequirements(plan)
  const where = place(['spec', 'cluster', 'nodes'])
  return [
    ...raw,
    ...(nodes.length < 3 ? [finding(fewNodes, { nodes: nodes.length }, { where })] : []),
    ...(needed.length > 0
      ? [finding(prerequisites, { what: needed }, { where: place(['spec', 'cluster', 'platform']) })]
      : []),
    ...plan.clouds.flatMap((cloud) => [
      ...lintOverrides(plan, cloud, place),
      ...dnsFindings(plan, cloud, place),
      ...attachmentFindings(plan, cloud, place),
      ...endpointFindings(plan, cloud, place),
    ]),
  ]
}

function dnsFindings(plan: Plan, cloud: PlannedCloud, place: LocatePath): readonly Finding[] {
  if (dnsServers(plan, cloud).length > 0) return []
  return [finding(noDnsServer, { cloud: cloud.name }, { where: place(cloud.from.path) })]
}

/** Whether a service's template has a place for attachments: it asks for them. */
function isAttachable(service: string, context: TemplateContext): boolean {
  let asked = false
  const attach = (): readonly string[] => {
    asked = true
    return []
  }
  templates[service]?.({ ...context, attach })
  return asked
}

function attachmentFindings(plan: Plan, cloud: PlannedCloud, place: LocatePath): readonly Finding[] {
  const wishing = Object.keys(cloud.from.file.services ?? {}).filter(
    (name) => templates[name] && serviceSettings(cloud.from, name).networkAttachments,
  )
  if (wishing.length === 0) return []
  const context = buildTemplateContext(plan, cloud)
  return wishing
    .filter((name) => !isAttachable(name, context))
    .map((service) => {
      const where = place([...cloud.from.path, 'services', service, 'networkAttachments'])
      return finding(noPlaceForAttachments, { cloud: cloud.name, service }, { where })
    })
}

function endpointFindings(plan: Plan, cloud: PlannedCloud, place: LocatePath): readonly Finding[] {
  const endpoints = listEndpoints(cloud)
  if (endpoints.length === 0) return []
  const spec = mergeRawFields(plannedSpec(plan, cloud), cloud)
  const rabbitmqs = asFields(asFields(spec['rabbitmq'])['templates'])
  return endpoints.flatMap(({ name, network, attachment, rabbitmq }) => {
    const where = place([...cloud.from.path, 'networks', network.name, 'endpoints']) ?? place(cloud.from.path)
    if (rabbitmq === undefined) {
      const facts = { cloud: cloud.name, endpoint: name, value: networksAnnotation([attachment]) }
      return [finding(noSlotForEndpoint, facts, { where })]
    }
    const replicas = asFields(rabbitmqs[rabbitmq])['replicas']
    if (typeof replicas !== 'number' || replicas < 2) return []
    return [finding(endpointAddressShared, { cloud: cloud.name, endpoint: name, replicas }, { where })]
  })
}
