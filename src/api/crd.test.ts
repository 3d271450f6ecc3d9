import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { preserveUnknown, renderCrd, structuralSchema } from './crd.ts'

describe('structuralSchema', () => {
  it('keeps types, defaults, bounds, patterns and required fields of zod', () => {
    const schema = z.strictObject({
      name: z
        .string()
        .regex(/^[a-z]+$/)
        .describe('its name'),
      mtu: z.int().default(1500),
      vlan: z.int().max(4094).optional(),
      tags: z.array(z.string()).optional(),
      routes: z.record(z.string(), z.string()).optional(),
    })
    expect(structuralSchema(schema)).toEqual({
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', pattern: '^[a-z]+$', description: 'its name' },
        mtu: { type: 'integer', default: 1500 },
        vlan: { type: 'integer', maximum: 4094 },
        tags: { type: 'array', items: { type: 'string' } },
        routes: { type: 'object', additionalProperties: { type: 'string' } },
      },
    })
  })

  it('keeps raw fields as Kubernetes spells them', () => {
    const schema = z.object({
      raw: z.record(z.string(), z.unknown()).meta(preserveUnknown),
    })
    expect(structuralSchema(schema)).toMatchObject({
      properties: {
        raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    })
  })

  it('rejects what a CustomResourceDefinition cannot express, with its path', () => {
    const schema = z.object({ either: z.union([z.string(), z.int()]) })
    expect(() => structuralSchema(schema)).toThrow('.either uses anyOf')
  })
})

describe('renderCrd', () => {
  it('renders names, columns and the status subresource', () => {
    const crd = renderCrd({
      group: 'example.org',
      version: 'v1',
      kind: 'Thing',
      plural: 'things',
      shortNames: ['th'],
      scope: 'Namespaced',
      spec: z.object({ a: z.string() }),
      status: z.object({ b: z.string().optional() }),
      columns: [{ name: 'B', type: 'string', jsonPath: '.status.b' }],
    })
    expect(crd.metadata.name).toBe('things.example.org')
    expect(crd).toMatchObject({
      spec: {
        names: {
          kind: 'Thing',
          listKind: 'ThingList',
          plural: 'things',
          singular: 'thing',
          shortNames: ['th'],
        },
        versions: [
          {
            name: 'v1',
            subresources: { status: {} },
            additionalPrinterColumns: [{ name: 'B', type: 'string', jsonPath: '.status.b' }],
          },
        ],
      },
    })
  })
})
