import { describe, expect, it } from 'vitest'
import { containsJson, sameJson } from './same-json.ts'

describe('sameJson', () => {
  it('ignores the order of keys and undefined members', () => {
    expect(sameJson({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1, d: undefined })).toBe(true)
  })

  it('tells lists from mappings and different lengths apart', () => {
    expect(sameJson([], {})).toBe(false)
    expect(sameJson([1], [1, 2])).toBe(false)
  })
})

describe('containsJson', () => {
  it('accepts fields that the server added', () => {
    expect(containsJson({ a: 1, added: true, b: { c: 2, d: 3 } }, { a: 1, b: { c: 2 } })).toBe(true)
  })

  it('accepts an empty list that the server dropped', () => {
    expect(containsJson({}, { list: [] })).toBe(true)
  })

  it('rejects a missing field, another value and a longer list', () => {
    expect(containsJson({}, { a: 1 })).toBe(false)
    expect(containsJson({ a: 2 }, { a: 1 })).toBe(false)
    expect(containsJson({ list: [1, 2] }, { list: [1] })).toBe(false)
    expect(containsJson(undefined, { a: 1 })).toBe(false)
  })
})
