/**
 * Reads the raw fields of a cloud's control plane, and checks them before any cluster has seen them.
 *
 * Names are checked against the CRD's field names, configuration snippets by the rules of oslo.config. Conflicts with
 * the plan are found by render.
 */
import { closestMatch } from '../../errors/closest-match.ts'
import { type Finding, finding, type Where } from '../../errors/finding.ts'
import { controlPlaneBindingRules } from '../../ini/binding.ts'
import { checkIni } from '../../ini/check.ts'
import type { Cloud, Path } from '../../site/site.ts'
import { hostNodeSet } from '../node-sets.ts'
import { findUnknownFields, hasField } from '../release/fields.ts'
import { fieldHistory, type Release } from '../release/releases.ts'
import { findBus, findRename } from '../release/renames.ts'
import { type LocatePath, serviceSettings } from './cloud-services.ts'
import { deprecatedBusField, fieldNotInRelease, unknownRawField } from './findings.ts'
import { multiInstanceServices } from './service-catalogue.ts'
import type { SlotTable } from './slots.ts'

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

/** Wrong names and wrong configuration. Names are not checked where only the slots of a CRD are known. */
export function checkRawFields(cloud: Cloud, { release }: SlotTable, locate: LocatePath): readonly Finding[] {
  const controlPlane = rawSources(cloud).flatMap((source) => [
    ...nameFindings(cloud, source, 'OpenStackControlPlane', release, locate),
    ...busFindings(cloud, source, release, locate),
    ...configFindings(source, locate),
  ])
  const nodeSets = nodeSetRawFields(cloud).flatMap((source) =>
    nameFindings(cloud, source, 'OpenStackDataPlaneNodeSet', release, locate),
  )
  const novaConfigs = (cloud.file.nodeSets ?? []).flatMap(({ novaConfig }, index) =>
    novaConfig === undefined ? [] : checkConfig(novaConfig, locate([...cloud.path, 'nodeSets', index, 'novaConfig'])),
  )
  const netConfig = netConfigRawFields(cloud).flatMap((source) =>
    nameFindings(cloud, source, 'NetConfig', release, locate),
  )
  return [...controlPlane, ...nodeSets, ...netConfig, ...novaConfigs]
}

/** Raw fields in the shape of a NetConfig's spec. */
export function netConfigRawFields({ file, path }: Cloud): readonly RawSource[] {
  const value = file.overrides?.netConfig
  return value ? [{ value, path: [...path, 'overrides', 'netConfig'], depth: 0 }] : []
}

/** Raw fields in the shape of a NodeSet's spec: those of one node set, or all that the file has. */
export function nodeSetRawFields(cloud: Cloud, nodeSet?: string): readonly RawSource[] {
  const { overrides, nodeSets = [], hosts = [] } = cloud.file
  const common = overrides?.nodeSet
  const isIncluded = (name: string): boolean => nodeSet === undefined || name === nodeSet
  return [
    ...(common ? [{ value: common, path: [...cloud.path, 'overrides', 'nodeSet'], depth: 0 }] : []),
    ...nodeSets.flatMap(({ name, baremetalSetTemplate, overrides: fields }, index): readonly RawSource[] => {
      if (!isIncluded(name)) return []
      const path = [...cloud.path, 'nodeSets', index]
      return [
        ...(baremetalSetTemplate
          ? [{ value: { baremetalSetTemplate }, path: [...path, 'baremetalSetTemplate'], depth: 1 }]
          : []),
        ...(fields ? [{ value: fields, path: [...path, 'overrides'], depth: 0 }] : []),
      ]
    }),
    ...hosts.flatMap((host, index): readonly RawSource[] => {
      if (!host.overrides || !isIncluded(hostNodeSet(cloud, host))) return []
      const value = { nodes: { [host.name]: host.overrides } }
      return [{ value, path: [...cloud.path, 'hosts', index, 'overrides'], depth: 2 }]
    }),
  ]
}

function nameFindings(
  cloud: Cloud,
  source: RawSource,
  kind: string,
  release: Release,
  locate: LocatePath,
): readonly Finding[] {
  const schema = release.kinds[kind]
  if (!schema) return []
  return findUnknownFields(source.value, schema.spec).map(({ path, known }) => {
    const name = String(path.at(-1))
    const field = `spec.${path.join('.')}`
    const where = locate(rawFieldPath(source, path))
    const instead = findRename(kind, path, known)
    const history = fieldHistory(kind, path)
    if (history.length > 0) {
      const target = release.name ?? 'the CRD of this plan'
      return finding(
        fieldNotInRelease,
        { cloud: cloud.name, kind, field, target, releases: history, instead },
        { where },
      )
    }
    const nearest = instead ?? closestMatch(name, known)
    return finding(unknownRawField, { cloud: cloud.name, kind, field, nearest }, { where })
  })
}

function busFindings(cloud: Cloud, source: RawSource, release: Release, locate: LocatePath): readonly Finding[] {
  const schema = release.kinds['OpenStackControlPlane']
  if (!schema) return []
  return leaves(source.value).flatMap(({ path, value }) => {
    const instead = hasField(schema.spec, path) ? findBus(path, schema.spec) : undefined
    if (instead === undefined) return []
    const facts = { cloud: cloud.name, field: `spec.${path.join('.')}`, instead, rabbitmq: String(value) }
    return [finding(deprecatedBusField, facts, { where: locate(rawFieldPath(source, path)) })]
  })
}

function configFindings(source: RawSource, locate: LocatePath): readonly Finding[] {
  return leaves(source.value).flatMap(({ path, value }) => {
    if (path.at(-1) !== 'customServiceConfig' || typeof value !== 'string') return []
    return checkConfig(value, locate(rawFieldPath(source, path)))
  })
}

function checkConfig(text: string, where: Where | undefined): readonly Finding[] {
  return checkIni(text, { binding: controlPlaneBindingRules, ...(where && { where: () => where }) })
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
