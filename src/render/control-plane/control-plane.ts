/**
 * Renders the OpenStackControlPlane of a cloud, complete for the first apply: every service is enabled or disabled
 * explicitly, every Service has its pool, sharing key and address, and raw fields of the site file are merged last.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import type { CloudService } from '../../plan/slots/cloud-services.ts'
import { rawSources } from '../../plan/slots/raw-fields.ts'
import type { EndpointEntry } from '../../plan/slots/service-catalogue.ts'
import { detectEra, type Era } from '../../plan/slots/slots.ts'
import { ownershipLabels } from '../labels.ts'
import { asFields, type Fields, mergePatch, setValue } from '../merge.ts'
import { addEndpoints, renderEndpointDefinitions } from './endpoints.ts'
import { fillSlots, resolveSlots } from './slot-values.ts'
import { buildTemplateContext, generalFields, type TemplateContext, templates } from './templates.ts'
import { templates2023 } from './templates-2023.ts'

export const CONTROL_PLANE = 'controlplane'
const CORE = 'core.openstack.org/v1beta1'

export function renderControlPlane(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const object = {
    apiVersion: CORE,
    kind: 'OpenStackControlPlane',
    metadata: controlPlaneMetadata(plan, cloud),
    spec: mergeRawFields(plannedSpec(plan, cloud), cloud),
  }
  return [...renderVersion(plan, cloud), object]
}

/** Applied before the control plane, so that it is never deployed with another version. */
function renderVersion(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const { version } = cloud.from.file
  if (version === undefined || detectEra(plan.slots) === '2023') return []
  return [
    {
      apiVersion: CORE,
      kind: 'OpenStackVersion',
      metadata: controlPlaneMetadata(plan, cloud),
      spec: { targetVersion: version },
    },
  ]
}

function controlPlaneMetadata({ site }: Plan, { name, namespace }: PlannedCloud): KubeObject['metadata'] {
  return { name: CONTROL_PLANE, namespace, labels: ownershipLabels({ site, cloud: name }) }
}

export function mergeRawFields(spec: Fields, cloud: PlannedCloud): Fields {
  return rawSources(cloud.from).reduce((merged, { value }) => mergePatch(merged, value), spec)
}

/** The spec without the raw fields of the site file. */
export function plannedSpec(plan: Plan, cloud: PlannedCloud): Fields {
  return addEndpoints(plan, cloud, specWithoutEndpoints(plan, cloud))
}

/** The definitions with the fixed addresses of the control plane's pods. */
export function renderPodDefinitions(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  if (cloud.networks.every((network) => network.endpoints.length === 0)) return []
  return renderEndpointDefinitions(plan, cloud, specWithoutEndpoints(plan, cloud))
}

export function specWithoutEndpoints(plan: Plan, cloud: PlannedCloud): Fields {
  const context = buildTemplateContext(plan, cloud)
  const era = detectEra(plan.slots)
  // From all entries at once: V8 turns an object into a slow dictionary when many fields are added one by one.
  const spec: Record<string, unknown> = Object.fromEntries([
    ...Object.entries(generalFields(context)),
    ...cloud.services.map((service) => [service.entry.name, fieldsFor(service, context, era)] as const),
  ])
  fillSlots(spec, resolveSlots(cloud))
  return spec
}

const OFF: Fields = { enabled: false }

function fieldsFor(service: CloudService, context: TemplateContext, era: Era): Fields {
  const { entry, enabled } = service
  if (!enabled) return OFF
  const table = era === '2023' ? templates2023 : templates
  return { enabled, ...withReplicas(table[entry.name]?.(context) ?? {}, service, context) }
}

/** Applies `replicas` of the site file to every instance, or to what serves the API of the service. */
function withReplicas(fields: Fields, { entry, settings }: CloudService, context: TemplateContext): Fields {
  const { replicas } = settings
  if (replicas === undefined) return fields
  if ('templates' in fields) {
    const instances = Object.entries(asFields(fields['templates']))
    return {
      ...fields,
      templates: Object.fromEntries(instances.map(([name, instance]) => [name, { ...asFields(instance), replicas }])),
    }
  }
  const paths = entry.endpoints.filter(answersApi).flatMap((endpoint) => endpointPaths(endpoint, context))
  return paths.reduce((filled, path) => asFields(setValue(filled, [...path, 'replicas'], replicas)), fields)
}

function answersApi({ each, alone }: EndpointEntry): boolean {
  return !alone && (each === undefined || each === 'glance API')
}

function endpointPaths(
  { path: pattern }: EndpointEntry,
  { glanceApis }: TemplateContext,
): readonly (readonly string[])[] {
  const path = pattern.split('.').slice(1)
  if (!path.includes('*')) return [path]
  return glanceApis.map((name) => path.map((step) => (step === '*' ? name : step)))
}
