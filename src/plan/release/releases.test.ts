import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeWithRelease } from '../../../test/releases.ts'
import { formatReleaseData, mergeReleases, readReleaseFolder } from '../../../tools/generate-releases.ts'
import { builtInTable } from '../slots/built-in-crds.ts'
import { compareReleases, matchRelease } from './compare.ts'
import { findUnknownFields, missingFields, pruneFields } from './fields.ts'
import { defaultReleaseName, fieldHistory, findRelease, formatReleases, loadReleases } from './releases.ts'
import { buildFieldGraph, type Schema } from './schema-graph.ts'

const names = loadReleases().map(({ name }) => name)
const FOLDER = '../shared/crds'
const folders = names.map((name) => path.join(FOLDER, name)).filter((folder) => existsSync(folder))

describe('the known releases', () => {
  it('are in the order of their age, and the newest feature release is the default', () => {
    const features = names.filter((name) => /-fr\d+$/.test(name))
    expect(features.slice(0, 6)).toEqual(['18.0-fr1', '18.0-fr2', '18.0-fr3', '18.0-fr4', '18.0-fr5', '18.0-fr6'])
    expect([names[0], ...names.slice(-2)]).toEqual(['2023', '18-stable', 'main'])
    expect([defaultReleaseName(), findRelease('today')?.name]).toEqual([features.at(-1), features.at(-1)])
  })

  it('take a new one in at its place: a version without a feature release is after those of its version', () => {
    const added = ['19.0-dev', '18.0-fr7', '18.0-dev'].map((name) => ({ name, kinds: {} }))
    const order = mergeReleases(loadReleases().toReversed(), added).map(({ name }) => name)
    const place = (name: string): number => order.indexOf(name)
    expect(order.filter((name) => names.includes(name))).toEqual(names)
    expect(order.slice(place('18.0-fr7'))).toEqual(['18.0-fr7', '18.0-dev', '19.0-dev', '18-stable', 'main'])
  })

  it('come from a folder with the CRD of the control plane only', () => {
    expect(() => readReleaseFolder('examples')).toThrow('has no CRD of OpenStackControlPlane')
  })

  it('are what the generator makes of the CRDs in ../shared/crds', (context) => {
    if (folders.length === 0) context.skip('the CRDs of releases are not in ../shared/crds')
    const releases = mergeReleases(
      loadReleases(),
      folders.map((folder) => readReleaseFolder(folder)),
    )
    expect(folders.length).toBeGreaterThanOrEqual(8)
    expect(readFileSync('data/releases.json', 'utf8')).toBe(formatReleaseData(releases))
  })

  it('tell which of them have a field', () => {
    const image = ['glance', 'template', 'glanceAPIs', 'default', 'containerImage']
    expect(fieldHistory('OpenStackControlPlane', image).at(-1)).toBe('18.0-fr4')
    expect(formatReleases(fieldHistory('OpenStackControlPlane', ['watcher', 'enabled']))).toBe('18.0-fr4 to main')
    expect(fieldHistory('OpenStackControlPlane', ['messagingBus'])[0]).toBe('18.0-fr5')
    expect(fieldHistory('OpenStackControlPlane', ['nothing'])).toEqual([])
  })
})

describeWithRelease('18.0-fr6', 'the slots of each release', () => {
  it.each(folders)('are the override.service places of the CRD: %s', (folder) => {
    const file = path.join(folder, 'core.openstack.org_openstackcontrolplanes.json')
    const crd = JSON.parse(readFileSync(file, 'utf8')) as { spec: { versions: readonly [{ schema: unknown }] } }
    const [version] = crd.spec.versions
    const { openAPIV3Schema } = version.schema as { openAPIV3Schema: Schema }
    const places: string[] = []
    const visit = (schema: Schema, at: readonly string[]): void => {
      const isPlace = /\.(?:override\.services?|podOverride\.services)$/.test(at.join('.'))
      if (isPlace) places.push(at.join('.'))
      if (isPlace) return
      for (const [key, child] of Object.entries(schema.properties ?? {})) visit(child, [...at, key])
      if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties, [...at, '*'])
      if (schema.items) visit(schema.items, [...at, '*'])
    }
    visit(openAPIV3Schema.properties?.['spec'] ?? {}, [])
    const slots = builtInTable(path.basename(folder)).slots.filter(({ shape }) => shape !== 'annotations')
    expect(slots.map((slot) => slot.path.join('.')).sort()).toEqual(places.sort())
    expect(places.length).toBeGreaterThan(20)
  })
})

describe('matchRelease', () => {
  it('finds every known release by its control plane', () => {
    for (const { name, kinds } of loadReleases()) {
      expect(matchRelease({ kinds })).toMatchObject({ exact: true, release: { name }, differences: [] })
    }
  })

  it('finds the nearest release of other CRDs, and names what differs', () => {
    const others = loadReleases().filter(({ name }) => name !== '18.0-fr6')
    const match = matchRelease({ kinds: findRelease('18.0-fr6')?.kinds ?? {} }, others)
    expect(match).toMatchObject({ exact: false, release: { name: '18-stable' } })
    expect(match?.differences.map(({ kind }) => kind)).toContain('OpenStackControlPlane')
  })

  it('names the fields that came and went between two releases', () => {
    const [from, to] = [findRelease('18.0-fr4'), findRelease('18.0-fr5')]
    const differences = from && to ? compareReleases(from, to) : []
    const controlPlane = differences.find(({ kind }) => kind === 'OpenStackControlPlane')
    expect(controlPlane?.removed).toContain('glance.template.glanceAPIs.*.containerImage')
    expect(controlPlane?.added).toContain('messagingBus')
  })
})

/** Schemas of objects, maps, lists and texts. */
const schemas = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant<Schema>({ type: 'string' }),
    fc
      .record({ properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema'), { minKeys: 1 }) })
      .map((schema): Schema => ({ type: 'object', ...schema })),
    tie('schema').map((items): Schema => ({ type: 'array', items })),
    tie('schema').map((additionalProperties): Schema => ({ type: 'object', additionalProperties })),
  ),
})).schema

describe('pruneFields', () => {
  it('leaves no unknown field and never removes a known one', () => {
    fc.assert(
      fc.property(schemas, fc.jsonValue({ maxDepth: 5 }), (schema, value) => {
        const graph = buildFieldGraph(schema)
        const { value: pruned, dropped } = pruneFields(value, graph)
        expect(findUnknownFields(pruned, graph)).toEqual([])
        expect(dropped).toEqual(findUnknownFields(value, graph))
        const gone = new Set(dropped.map(({ path: field }) => field.join('\0')))
        expect(pruned).toEqual(without(value, gone))
      }),
    )
  })

  it('returns the value itself where nothing is dropped', () => {
    const value = { a: [{ b: 1 }] }
    const graph = buildFieldGraph({ properties: { a: { items: { properties: { b: {} } } } } })
    expect(pruneFields(value, graph).value).toBe(value)
  })
})

function without(value: unknown, gone: ReadonlySet<string>, at: readonly (string | number)[] = []): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: unknown, index) => without(item, gone, [...at, index]))
  const kept = Object.entries(value).filter(([key]) => !gone.has([...at, key].join('\0')))
  return Object.fromEntries(kept.map(([key, child]) => [key, without(child, gone, [...at, key])]))
}

describe('missingFields', () => {
  const graph = buildFieldGraph({
    properties: {
      apis: { additionalProperties: { required: ['image', 'size'], properties: { image: {}, size: { default: 1 } } } },
    },
  })

  it('names a required field by its path, not one that the server fills by a default', () => {
    expect(missingFields({ apis: { one: {}, two: { image: 'x' } } }, graph)).toEqual([['apis', 'one', 'image']])
  })

  it('does not ask for fields of an object that is absent', () => {
    expect(missingFields({}, graph)).toEqual([])
  })
})
