import { describe, expect, it } from 'vitest'
import { exampleSites, planForRelease } from '../../test/examples.ts'
import { hasErrors } from '../errors/finding.ts'
import { findUnknownFields, missingFields } from '../plan/release/fields.ts'
import { findRelease, loadReleases } from '../plan/release/releases.ts'
import { renderDocuments } from './render.ts'

/** These releases lack services that this example turns on, or fields that it sets. */
const refused = [
  ['2023', 'every-service', ['SL3002', 'SL3003']],
  ['18.0-fr1', 'every-service', ['SL3003']],
] as const

const accepted = loadReleases()
  .flatMap(({ name }) => exampleSites.map((example) => [name, example] as const))
  .filter(([name, example]) => !refused.some((each) => each[0] === name && each[1] === example))

describe('renderDocuments', () => {
  it.each(accepted)('leaves no unknown and no missing field: %s, %s', (name, example) => {
    const plan = planForRelease(example, name)
    expect(hasErrors(plan.findings)).toBe(false)
    const documents = renderDocuments(plan).map(({ object }) => object)
    const judged = documents.flatMap(({ kind, spec }) => {
      const schema = findRelease(name)?.kinds[kind]?.spec
      return schema ? [{ kind, spec, schema }] : []
    })
    const problems = judged.flatMap(({ kind, spec, schema }) => [
      ...findUnknownFields(spec, schema).map((field) => `unknown ${kind} ${field.path.join('.')}`),
      ...missingFields(spec, schema).map((field) => `missing ${kind} ${field.join('.')}`),
    ])
    expect(problems).toEqual([])
    expect(judged.map(({ kind }) => kind)).toContain('OpenStackControlPlane')
  })

  it.each(refused)('is not reached where the release lacks a service: %s, %s', (name, example, codes) => {
    const errors = planForRelease(example, name).findings.filter(({ severity }) => severity === 'error')
    expect([...new Set(errors.map(({ code }) => code))].sort()).toEqual(codes)
  })
})
