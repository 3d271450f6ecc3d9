import { readdirSync, readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { toFastSchema } from '../../tools/fast-schemas.ts'
import { readYaml } from '../yaml/read.ts'
import { fitSchema, MISFIT, readSchema } from './fit-schema.ts'
import { siteSchema } from './site.ts'

const sites = readdirSync('examples')
  .filter((name) => name.endsWith('.yaml') && !name.startsWith('lab-'))
  .map((name) => ({ name, value: readYaml(readFileSync(`examples/${name}`), name).value }))

test.each(sites)('fits $name and keeps what zod keeps, in its order', ({ value }) => {
  expect(JSON.stringify(fitSchema(readSchema('site'), value))).toBe(JSON.stringify(siteSchema.parse(value)))
})

test('accepts no site that zod refuses, and returns the same for the others', () => {
  const schema = toFastSchema(siteSchema)
  const wrong = fc.constantFrom<unknown>(
    null,
    '',
    'x',
    'CHANGEME',
    -1,
    0.5,
    5000,
    1e300,
    true,
    [],
    {},
    [''],
    { x: 1 },
    [[]],
  )
  fc.assert(
    fc.property(fc.constantFrom(...sites), fc.nat(), fc.nat(2), wrong, ({ value }, seed, kind, other) => {
      const changed = structuredClone(value)
      const places = listPlaces(changed)
      const [parent, key] = places[seed % places.length] as Place
      if (kind === 0) parent[key] = other
      else if (kind === 1) delete parent[key]
      else parent[`${key}x`] = other
      const fitted = fitSchema(schema, changed)
      if (fitted === MISFIT) return
      expect(JSON.stringify(fitted)).toBe(JSON.stringify(siteSchema.parse(changed)))
    }),
    { numRuns: 500 },
  )
})

type Place = readonly [Record<string, unknown>, string]

function listPlaces(value: unknown): readonly Place[] {
  if (typeof value !== 'object' || value === null) return []
  const record = value as Record<string, unknown>
  return Object.keys(record).flatMap((key): readonly Place[] => [[record, key], ...listPlaces(record[key])])
}

test('refuses what is no plain value: dates, other objects, unsafe and infinite numbers', () => {
  const schema = toFastSchema(
    z.strictObject({ map: z.record(z.string(), z.unknown()), int: z.int(), number: z.number() }),
  )
  expect(fitSchema(schema, { map: {}, int: 1, number: 1.5 })).toEqual({ map: {}, int: 1, number: 1.5 })
  expect(fitSchema(schema, { map: new Date(), int: 1, number: 1 })).toBe(MISFIT)
  expect(fitSchema(schema, { map: {}, int: 2 ** 60, number: 1 })).toBe(MISFIT)
  expect(fitSchema(schema, { map: {}, int: 1, number: Number.POSITIVE_INFINITY })).toBe(MISFIT)
})

test('refuses texts and lists that are too long', () => {
  const schema = toFastSchema(z.array(z.string().max(2)).max(2))
  expect(fitSchema(schema, ['ab', 'c'])).toEqual(['ab', 'c'])
  expect(fitSchema(schema, ['abc'])).toBe(MISFIT)
  expect(fitSchema(schema, ['a', 'b', 'c'])).toBe(MISFIT)
})

test('makes no schema with a keyword that would not be checked', () => {
  expect(() => toFastSchema(z.number().multipleOf(3))).toThrow('multipleOf is not checked')
})
