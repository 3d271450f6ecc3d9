/**
 * Reads the raw fields of a cloud's control plane, and checks them before any cluster has seen them.
 *
 * Names are checked against the CRD's field names, configuration snippets by the rules of oslo.config. Conflicts with
 * the plan are found by render.
 */
import { closestMatch } from '../../errors/closest-match.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { controlPlaneBindingRules } from '../../ini/binding.ts'
import { checkIni } from '../../ini/check.ts'
import type { Cloud, Path } from '../../site/site.ts'
import { type LocatePath, serviceSettings } from './cloud-services.ts'
import { unknownRawField } from './findings.ts'
import { multiInstanceServices } from './service-catalogue.ts'
import { type CrdFields, findUnknownFields } from './slot-table.ts'

/** One piece of raw fields, in the shape of the control plane's spec. */
export interface RawSource {
  readonly value: Readonly<Record<string, unknown>>
  /** Where the piece is in the site file … */
  readonly path: Path
  /** … and how many steps of `value` lead to it: `keystone`, `template`. */
  readonly depth: number
}

/** In the order in which they are merged: each service's template, then the control plane's own. */
export function rawSources(cloud: Cloud): readonly RawSource[] {
  const templates = Object.keys(cloud.file.services ?? {}).flatMap((name): readonly RawSource[] => {
    const { template } = serviceSettings(cloud, name)
    if (!template) return []
    const key = multiInstanceServices.has(name) ? 'templates' : 'template'
    const path = [...cloud.path, 'services', name, 'template']
    return [{ value: { [name]: { [key]: template } }, path, depth: 2 }]
  })
  const override = cloud.file.overrides?.controlPlane
  if (!override) return templates
  return [...templates, { value: override, path: [...cloud.path, 'overrides', 'controlPlane'], depth: 0 }]
}

/** Where a path of the spec is in the site file. */
export function rawFieldPath({ path, depth }: RawSource, inSpec: readonly (string | number)[]): Path {
  return [...path, ...inSpec.slice(depth)]
}

/** Wrong names and wrong configuration. `fields` is absent where only the slots of a CRD are known. */
export function checkRawFields(cloud: Cloud, fields: CrdFields | undefined, locate: LocatePath): readonly Finding[] {
  return rawSources(cloud).flatMap((source) => [
    ...(fields ? nameFindings(cloud, source, fields, locate) : []),
    ...configFindings(source, locate),
  ])
}

function nameFindings(cloud: Cloud, source: RawSource, fields: CrdFields, locate: LocatePath): readonly Finding[] {
  return findUnknownFields(source.value, fields).map(({ path, known }) => {
    const name = String(path.at(-1))
    const facts = { cloud: cloud.name, field: `spec.${path.join('.')}`, nearest: closestMatch(name, known) }
    return finding(unknownRawField, facts, { where: locate(rawFieldPath(source, path)) })
  })
}

function configFindings(source: RawSource, locate: LocatePath): readonly Finding[] {
  return leaves(source.value).flatMap(({ path, value }) => {
    if (path.at(-1) !== 'customServiceConfig' || typeof value !== 'string') return []
    const where = locate(rawFieldPath(source, path))
    return checkIni(value, { binding: controlPlaneBindingRules, ...(where && { where: () => where }) })
  })
}

export interface Leaf {
  readonly path: readonly (string | number)[]
  readonly value: unknown
}

/** Every value that is neither a mapping nor a list, with its path. */
export function leaves(value: unknown, path: readonly (string | number)[] = []): readonly Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }]
  return Object.entries(value).flatMap(([key, child]) =>
    leaves(child, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}
