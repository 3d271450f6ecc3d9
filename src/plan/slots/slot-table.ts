/**
 * Finds the slots and the services among the fields of the control plane.
 *
 * Knows the shapes that a slot can have, and no service by name.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import { matchRelease } from '../release/compare.ts'
import { readCrd } from '../release/read-crd.ts'
import { type Release, readRelease } from '../release/releases.ts'
import type { FieldGraph, FieldNode } from '../release/schema-graph.ts'
import { notAControlPlaneCrd } from './findings.ts'
import type { Slot, SlotShape, SlotTable } from './slots.ts'

export type SlotTableResult =
  | { readonly kind: 'table'; readonly table: SlotTable }
  | { readonly kind: 'refused'; readonly findings: readonly Finding[] }

/** `crd` is what a YAML or JSON reader made of the file or of the API server's answer. */
export function readSlotTable(crd: unknown, source: string): SlotTableResult {
  return readSlotTables([crd], source)
}

/** The CRDs of several kinds, the control plane's among them. */
export function readSlotTables(crds: readonly unknown[], source: string): SlotTableResult {
  const table = slotTable(readRelease(crds))
  if (table) return { kind: 'table', table: withMatch(table) }
  const readings = crds.map(readCrd)
  const reason = readings.length === 1 ? describeReading(readings[0]) : 'it has no CRD of OpenStackControlPlane'
  return { kind: 'refused', findings: [finding(notAControlPlaneCrd, { source, reason })] }
}

function describeReading(reading: ReturnType<typeof readCrd> | undefined): string {
  if (!reading) return 'it has no CRD'
  const other = reading.kind !== undefined && reading.kind !== 'OpenStackControlPlane'
  if (other) return `it defines ${reading.kind}, not OpenStackControlPlane`
  if (reading.result === 'read') return 'its stored version has no schema with a spec'
  return reading.reason === 'it defines nothing' ? 'it defines nothing, not OpenStackControlPlane' : reading.reason
}

/** A release that is known has its name. */
function withMatch(table: SlotTable): SlotTable {
  const match = matchRelease(table.release)
  return match?.exact ? { ...table, release: { ...table.release, name: match.release.name } } : table
}

/** Undefined where the release has no control plane. */
export function slotTable(release: Release): SlotTable | undefined {
  const controlPlane = release.kinds['OpenStackControlPlane']
  if (!controlPlane) return undefined
  const { crd, spec } = controlPlane
  return { crd, slots: findSlots(spec), services: findServices(spec), release }
}

/** Services have a switch and a template; `applicationCredential` has only a switch, and `secret` and `tls` have neither. */
function findServices({ nodes, root }: FieldGraph): readonly string[] {
  const entries = Object.entries(nodes[root]?.fields ?? {})
  const isService = (fields: FieldNode['fields'] = {}): boolean =>
    'enabled' in fields && ('template' in fields || 'templates' in fields)
  return entries.filter(([, id]) => isService(nodes[id]?.fields)).map(([name]) => name)
}

function findSlots({ nodes, root }: FieldGraph): readonly Slot[] {
  const found: Slot[] = []
  // Most fields are below many others; whether a slot is below one depends on its node and its key only.
  const withoutSlots = new Set<string>()
  const visit = (id: number, path: readonly string[]): void => {
    const before = found.length
    const last = path.at(-1) ?? ''
    if (withoutSlots.has(`${id} ${last}`)) return
    for (const [key, child] of Object.entries(nodes[id]?.fields ?? {})) {
      const shape = key === '*' ? undefined : shapeOf(last, key, nodes[child], nodes)
      if (shape) found.push({ path: [...path, key], shape, service: path[0] ?? key })
      else visit(child, [...path, key])
    }
    if (found.length === before) withoutSlots.add(`${id} ${last}`)
  }
  visit(root, [])
  return found
}

/** The shape of the slot with this key below this parent, or undefined where there is none. */
function shapeOf(
  parent: string,
  key: string,
  node: FieldNode | undefined,
  nodes: FieldGraph['nodes'],
): SlotShape | undefined {
  const end = `${parent}.${key}`
  const each = nodes[node?.fields['*'] ?? -1]
  if (end === 'override.service') {
    if (takesService(node)) return 'single'
    return takesService(each) ? 'endpoints' : undefined
  }
  // Newer operators give RabbitMQ's single pods a Service each.
  if (end === 'override.services' || end === 'podOverride.services') return takesService(each) ? 'list' : undefined
  if (end === 'logging.annotations') return 'annotations'
  if (key === 'externalEndpoint') return hasPool(node) ? 'external-single' : undefined
  if (key !== 'externalEndpoints' || !hasPool(each)) return undefined
  return each?.fields['endpoint'] === undefined ? 'external-list' : 'external-endpoints'
}

function hasPool(node: FieldNode | undefined): boolean {
  return node?.fields['ipAddressPool'] !== undefined
}

function takesService(node: FieldNode | undefined): boolean {
  return node?.fields['metadata'] !== undefined
}
