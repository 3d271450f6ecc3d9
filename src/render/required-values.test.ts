import { describe, expect, it } from 'vitest'
import { loadReleases } from '../plan/release/releases.ts'
import type { FieldGraph } from '../plan/release/schema-graph.ts'
import { findRequiredValue, requiredPaths } from './required-values.ts'

/** Paths of required images, the outermost names first. Volumes have a required `image` of another meaning. */
function requiredImages({ nodes, root }: FieldGraph): readonly string[] {
  const found: string[] = []
  const visit = (id: number, path: readonly string[]): void => {
    const node = nodes[id]
    for (const name of node?.required ?? []) if (name.includes('ontainerImage')) found.push([...path, name].join('.'))
    for (const [name, child] of Object.entries(node?.fields ?? {})) visit(child, [...path, name])
  }
  visit(root, [])
  return found
}

const imagesByRelease = new Map(
  loadReleases().map(({ name, kinds }) => {
    const schema = kinds['OpenStackControlPlane']
    return [name, schema ? requiredImages(schema.spec) : []]
  }),
)

describe('values of required images', () => {
  it('exist for every image that a release since 18.0-fr1 requires', () => {
    for (const [release, paths] of imagesByRelease) {
      // The templates for the API of 2023 set their images themselves.
      if (release === '2023') continue
      const missing = paths.filter((path) => findRequiredValue('OpenStackControlPlane', path.split('.')) === undefined)
      expect([release, missing]).toEqual([release, []])
    }
  })

  it('are for fields that a known release requires, by their exact names', () => {
    const required = new Set([...imagesByRelease.values()].flat())
    expect(requiredPaths.filter((path) => !required.has(path))).toEqual([])
  })
})
