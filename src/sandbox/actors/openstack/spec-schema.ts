/**
 * Where a control plane's schema takes Service overrides, and what a control plane says there.
 *
 * Found by walking the CRD's schema, not by a list of ours: a path that we render wrongly is a path that this walk
 * does not take, and the Service then lacks its address. Follows the override types of lib-common.
 */
import { asString, asStrings, isRecord } from '../../../api/json.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'

export interface Schema {
  readonly type?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
}

export interface ServiceOverride {
  readonly metadata?: {
    readonly annotations?: Readonly<Record<string, string>>
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec?: Readonly<Record<string, unknown>>
}

/** One place that takes an override, in one control plane: `keystone.template`, endpoint `internal`. */
export interface OverrideSlot {
  /** Of what carries the override, below `spec`. */
  readonly path: readonly string[]
  /** Where the schema has one override per endpoint. */
  readonly endpoint?: string
  /** Where the schema has one per replica. */
  readonly index?: number
  readonly override: ServiceOverride
}

const ENDPOINTS = ['internal', 'public']

/** Every place of the services that are on; what the control plane does not mention has an empty override. */
export function findOverrideSlots(schema: Schema, spec: unknown): readonly OverrideSlot[] {
  const services = Object.entries(schema.properties ?? {})
  return services.flatMap(([name, below]) => {
    const value = field(spec, name)
    if (!isEnabled(below, value)) return []
    return walkOverrides(below, value, [name])
  })
}

export function isEnabled(schema: Schema, value: unknown): boolean {
  const enabled = schema.properties?.['enabled']
  if (!enabled) return value !== undefined
  return (field(value, 'enabled') ?? enabled.default ?? false) === true
}

function walkOverrides(schema: Schema, value: unknown, path: readonly string[]): readonly OverrideSlot[] {
  if (!isNotDisabled(schema, value)) return []
  const own = slotsAt(schema, value, path)
  const named = Object.entries(schema.properties ?? {})
    .filter(([name]) => name !== 'override')
    .flatMap(([name, below]) => {
      const inner = field(value, name)
      return inner === undefined && below.properties === undefined ? [] : walkOverrides(below, inner, [...path, name])
    })
  const { additionalProperties: every } = schema
  const mapped =
    typeof every === 'object' && isRecord(value)
      ? Object.entries(value).flatMap(([name, inner]) => walkOverrides(every, inner, [...path, name]))
      : []
  return [...own, ...named, ...mapped]
}

/** A part with a switch of its own (a cell's proxy) that is off has no Service. */
export function isNotDisabled(schema: Schema, value: unknown): boolean {
  const enabled = schema.properties?.['enabled']
  return !enabled || (field(value, 'enabled') ?? enabled.default ?? true) === true
}

function slotsAt(schema: Schema, value: unknown, path: readonly string[]): readonly OverrideSlot[] {
  const override = schema.properties?.['override']?.properties
  const said = field(value, 'override')
  if (override?.['service']?.additionalProperties) {
    return ENDPOINTS.map((endpoint) => {
      const one = field(field(said, 'service'), endpoint)
      return { path, endpoint, override: (one ?? {}) as ServiceOverride }
    })
  }
  if (override?.['service']) return [{ path, override: (field(said, 'service') ?? {}) as ServiceOverride }]
  if (override?.['services']) {
    const list = field(said, 'services')
    const entries = Array.isArray(list) ? (list as readonly ServiceOverride[]) : []
    return entries.map((entry, index) => ({ path, index, override: entry }))
  }
  return []
}

export function field(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
}

/** Fetched once: the schema is close to a megabyte. */
export function schemaReader(client: KubeClient): () => Promise<Schema> {
  let read: Promise<Schema> | undefined
  return () => {
    read ??= client
      .get({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        name: 'openstackcontrolplanes.core.openstack.org',
      })
      .then((crd) => specSchema(crd))
      .catch((thrown: unknown) => {
        read = undefined
        throw thrown
      })
    return read
  }
}

function specSchema(crd: KubeObject | undefined): Schema {
  const { versions: all = [] } = (crd?.['spec'] ?? {}) as {
    versions?: readonly { served: boolean; schema: { openAPIV3Schema: Schema } }[]
  }
  const schema = all.find(({ served }) => served)?.schema.openAPIV3Schema.properties?.['spec']
  if (!schema) throw new Error('the cluster has no CRD of OpenStackControlPlane')
  return schema
}

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
