/**
 * Where a control plane's schema takes Service overrides, and what a control plane says there.
 *
 * Found by walking the CRD's schema, not by a list of ours: a path that we render wrongly is a path that this walk
 * does not take, and the Service then lacks its address. Follows the override types of lib-common.
 */
import { isRecord } from '../../../api/json.ts'

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
