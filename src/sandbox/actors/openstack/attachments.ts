/**
 * Where a control plane asks for networks: found by walking the CRD's schema, like the overrides, and for the services
 * that are on. Each such place is one workload of an operator.
 */
import { asString, asStrings, isRecord } from '../../../api/json.ts'
import { field, isEnabled, isNotDisabled, type Schema } from './spec-schema.ts'

export interface AttachedWorkload {
  /** Of the workload, below `spec`: `glance.template.glanceAPIs.default`. */
  readonly path: readonly string[]
  readonly networks: readonly string[]
}

export function attachedWorkloads(schema: Schema, spec: unknown): readonly AttachedWorkload[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, below]) => {
    const value = field(spec, name)
    return isEnabled(below, value) ? walkAttachments(below, value, [name]) : []
  })
}

function walkAttachments(schema: Schema, value: unknown, path: readonly string[]): readonly AttachedWorkload[] {
  if (!isRecord(value) || !isNotDisabled(schema, value)) return []
  const networks = requestedNetworks(schema, value)
  const { properties = {}, additionalProperties: every } = schema
  const inner = Object.entries(value).flatMap(([name, one]) => {
    const below = properties[name] ?? (typeof every === 'object' ? every : undefined)
    return below ? walkAttachments(below, one, [...path, name]) : []
  })
  return networks.length > 0 ? [{ path, networks }, ...inner] : inner
}

/** A list of networks, or the one that OVN's databases take. */
function requestedNetworks({ properties = {} }: Schema, value: unknown): readonly string[] {
  if (properties['networkAttachments']) return asStrings(field(value, 'networkAttachments'))
  const one = properties['networkAttachment'] && asString(field(value, 'networkAttachment'))
  return one === undefined ? [] : [one]
}

/** `glance-default-0`, `ovn-dbcluster-nb-0`, `nova-api-0`: near enough to upstream's that a person knows them. */
export function podName({ path }: AttachedWorkload): string {
  const [service = '', ...rest] = path.filter((step) => !/^(template|templates|cellTemplates)$/.test(step))
  const steps = rest.map((step) =>
    step
      .replace(/(ServiceTemplate|APIs|DBCluster)$/, '')
      .replace(new RegExp(`^${service}`, 'i'), '')
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
      .toLowerCase(),
  )
  return [service, ...steps, '0'].filter((step) => step !== '').join('-')
}
