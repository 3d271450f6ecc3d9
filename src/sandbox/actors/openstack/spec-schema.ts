/**
 * Walks the CRD schema of a control plane to find its Service overrides and network attachments. It does not use the slots of
 * the plan, so a path that is rendered incorrectly is not found, and the Service then lacks its address.
 */
import { asString, asStrings, isRecord } from '../../../api/json.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { Source } from '../../../kube/cache.ts'

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

/** One slot of a control plane, such as `keystone.template` with the endpoint `internal`. */
export interface OverrideSlot {
  /** The path of the object that contains the override, below `spec`. */
  readonly path: readonly string[]
  /** Set if the schema has one override per endpoint. */
  readonly endpoint?: string
  /** Set if the schema has one override per replica. */
  readonly index?: number
  readonly override: ServiceOverride
}

const ENDPOINTS = ['internal', 'public']

/** All slots of enabled services; a slot that the control plane does not set has an empty override. */
export function findOverrideSlots(schema: Schema, spec: unknown): readonly OverrideSlot[] {
  const services = Object.entries(schema.properties ?? {})
  return services.flatMap(([name, below]) => {
    const value = field(spec, name)
    if (!isEnabled(below, value)) return []
    return walkOverrides(below, value, [name])
  })
}

function isEnabled(schema: Schema, value: unknown): boolean {
  const enabled = schema.properties?.['enabled']
  if (!enabled) return value !== undefined
  return (field(value, 'enabled') ?? enabled.default ?? false) === true
}

function walkOverrides(schema: Schema, value: unknown, path: readonly string[]): readonly OverrideSlot[] {
  if (!isNotDisabled(schema, value)) return []
  const slots = slotsAt(schema, value, path)
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
  return [...slots, ...named, ...mapped]
}

/** A disabled part, such as the proxy of a cell, has no Service. */
function isNotDisabled(schema: Schema, value: unknown): boolean {
  const enabled = schema.properties?.['enabled']
  return !enabled || (field(value, 'enabled') ?? enabled.default ?? true) === true
}

function slotsAt(schema: Schema, value: unknown, path: readonly string[]): readonly OverrideSlot[] {
  const override = schema.properties?.['override']?.properties
  const current = field(value, 'override')
  if (override?.['service']?.additionalProperties) {
    return ENDPOINTS.map((endpoint) => {
      const endpointOverride = field(field(current, 'service'), endpoint)
      return { path, endpoint, override: (endpointOverride ?? {}) as ServiceOverride }
    })
  }
  if (override?.['service']) return [{ path, override: (field(current, 'service') ?? {}) as ServiceOverride }]
  if (override?.['services']) {
    const list = field(current, 'services')
    const entries = Array.isArray(list) ? (list as readonly ServiceOverride[]) : []
    return entries.map((entry, index) => ({ path, index, override: entry }))
  }
  return []
}

function field(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
}

/** Watches one CRD: its schema changes when the operators are updated. */
export function crdSource(name: string): Source {
  return {
    kind: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    fieldSelector: `metadata.name=${name}`,
  }
}

export const CONTROL_PLANE_CRD = 'openstackcontrolplanes.core.openstack.org'

/** The schema of `spec` or `status` in the served version; undefined if the cluster does not have the CRD. */
export function servedSchema(crd: KubeObject | undefined, part: 'spec' | 'status'): Schema | undefined {
  const { versions = [] } = (crd?.['spec'] ?? {}) as {
    versions?: readonly { served: boolean; schema: { openAPIV3Schema: Schema } }[]
  }
  return versions.find(({ served }) => served)?.schema.openAPIV3Schema.properties?.[part]
}

export interface AttachedWorkload {
  /** The path of the workload below `spec`: `glance.template.glanceAPIs.default`. */
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
  const nested = Object.entries(value).flatMap(([name, inner]) => {
    const below = properties[name] ?? (typeof every === 'object' ? every : undefined)
    return below ? walkAttachments(below, inner, [...path, name]) : []
  })
  return networks.length > 0 ? [{ path, networks }, ...nested] : nested
}

/** A list of networks, or the single network of OVN databases. */
function requestedNetworks({ properties = {} }: Schema, value: unknown): readonly string[] {
  if (properties['networkAttachments']) return asStrings(field(value, 'networkAttachments'))
  const network = properties['networkAttachment'] && asString(field(value, 'networkAttachment'))
  return network === undefined ? [] : [network]
}

/** `glance-default-0`, `ovn-dbcluster-nb-0`, `nova-api-0`: similar to the upstream names. */
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
