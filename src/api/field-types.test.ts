import { describe, expect, it } from 'vitest'
import { dropWrongFields, objectSchema } from './field-types.ts'

const item = { type: 'object', required: ['ip'], properties: { ip: { type: 'string' } } }
const list = { type: 'object', properties: { hosts: { type: 'array', items: item } } }
const schema = objectSchema({ spec: list, status: list })
const object = (more: object) => ({ apiVersion: 'v1', kind: 'K', metadata: { name: 'a' }, spec: {}, ...more })

describe('dropWrongFields', () => {
  it('keeps an object of the right types, and fields that the schema does not have', () => {
    const fine = object({ spec: { hosts: [{ ip: '::1', more: 5 }], other: [1] }, data: 5 })
    expect(dropWrongFields(fine, schema)).toEqual({ object: fine, wrong: [] })
  })

  it('drops a field of another type with its path, and keeps the rest', () => {
    const { object: kept, wrong } = dropWrongFields(object({ spec: { hosts: [{ ip: 5 }, { ip: 'b' }] } }), schema)
    expect(kept?.['spec']).toEqual({ hosts: [{ ip: 'b' }] })
    expect(wrong).toEqual([{ path: 'spec.hosts[0].ip', found: 'a number', expected: 'it must be text' }])
  })

  it('drops an object without what its kind requires', () => {
    expect(dropWrongFields(object({ spec: 5 }), schema).object).toBeUndefined()
  })

  it('accepts a status in which a required field is absent, but not one of another type', () => {
    const kept = (ip: unknown) => dropWrongFields(object({ status: { hosts: [{ ip }] } }), schema).object?.['status']
    expect(kept(undefined)).toEqual({ hosts: [{}] })
    expect(kept(5)).toEqual({ hosts: [] })
  })

  it('treats null as absent', () => {
    const { object: kept, wrong } = dropWrongFields(object({ spec: { hosts: null } }), schema)
    expect([kept?.['spec'], wrong]).toEqual([{}, []])
  })

  it('keeps a field whose name every object has', () => {
    const labels = JSON.parse('{"constructor": "x"}') as Record<string, string>
    const named = { ...object({}), metadata: { name: 'a', labels } }
    expect(dropWrongFields(named, schema).object?.metadata.labels).toEqual(labels)
  })
})
