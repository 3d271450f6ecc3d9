/**
 * Where a control plane asks for networks: found by walking the CRD's schema, like the overrides, and for the services
 * that are on. Each such place is one workload of an operator.
 */
import { isRecord, textOf, textsOf } from '../../../yaml/loose.ts'
import { field, isOn, isOnIfSwitched, type Schema } from './overrides.ts'

export interface AttachedWorkload {
  /** Of the workload, below `spec`: `glance.template.glanceAPIs.default`. */
  readonly path: readonly string[]
  readonly networks: readonly string[]
}

export function attachedWorkloads(schema: Schema, spec: unknown): readonly AttachedWorkload[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, below]) => {
    const value = field(spec, name)
    return isOn(below, value) ? walk(below, value, [name]) : []
  })
}

function walk(schema: Schema, value: unknown, path: readonly string[]): readonly AttachedWorkload[] {
  if (!isRecord(value) || !isOnIfSwitched(schema, value)) return []
  const networks = askedFor(schema, value)
  const { properties = {}, additionalProperties: every } = schema
  const inner = Object.entries(value).flatMap(([name, one]) => {
    const below = properties[name] ?? (typeof every === 'object' ? every : undefined)
    return below ? walk(below, one, [...path, name]) : []
  })
  return networks.length > 0 ? [{ path, networks }, ...inner] : inner
}

/** A list of networks, or the one that OVN's databases take. */
function askedFor({ properties = {} }: Schema, value: unknown): readonly string[] {
  if (properties['networkAttachments']) return textsOf(field(value, 'networkAttachments'))
  const one = properties['networkAttachment'] && textOf(field(value, 'networkAttachment'))
  return one === undefined ? [] : [one]
}

/** `glance-default-0`, `ovn-dbcluster-nb-0`, `nova-api-0`: near enough to upstream's that a person knows them. */
export function podNameOf({ path }: AttachedWorkload): string {
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
