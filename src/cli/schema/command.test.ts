import { describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { main } from '../main.ts'

interface Schema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** The fields of a schema that say nothing about themselves. */
function silent(schema: Schema, path: string): readonly string[] {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description ? [] : [`${path}.${name}`]),
    ...silent(field, `${path}.${name}`),
  ])
  const others = [schema.items, schema.additionalProperties, ...(schema.anyOf ?? [])]
  return [...fields, ...others.flatMap((other) => (typeof other === 'object' ? silent(other, `${path}[]`) : []))]
}

describe('stackloom schema', () => {
  it.each([
    [[], 'Site'],
    [['site'], 'Site'],
    [['lab'], 'Lab'],
  ])('of %j is that of a %s file, with a description of every field', async (words, title) => {
    const io = testIo()
    expect(await main(['schema', ...words], io)).toBe(0)
    const schema = JSON.parse(io.out()) as Schema & { readonly $schema: string; readonly title: string }
    expect(schema).toMatchObject({ title, additionalProperties: false })
    expect(schema.$schema).toContain('draft-07')
    expect(Object.keys(schema.properties ?? {})).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
    expect(silent(schema, title)).toEqual([])
  })

  it('refuses another kind and lists the known ones', async () => {
    const io = testIo()
    expect(await main(['schema', 'cloud'], io)).toBe(2)
    expect(io.err()).toContain('site, lab')
  })

  it('prints YAML with -o yaml', async () => {
    const io = testIo()
    expect(await main(['schema', '-o', 'yaml'], io)).toBe(0)
    expect(io.out()).toContain('\ntitle: Site\n')
  })
})
