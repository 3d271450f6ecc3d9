import { describe, expect, it } from 'vitest'
import { countValues, measureJson } from './json-complexity.ts'

const measure = (text: string) => measureJson(Buffer.from(text), 100)

describe('measureJson', () => {
  it('counts keys, values and nesting, and nothing inside of strings', () => {
    expect(measure('{"a":[1,{"b":"[[,,\\"::{"}]}')).toEqual({ values: 7, depth: 3, keys: 2 })
  })

  it('counts equal keys once, and no more than asked for', () => {
    expect(measure('[{"a":1},{"a":{"b":":"}}]').keys).toBe(2)
    expect(measureJson(Buffer.from('{"a":1,"b":1,"c":1}'), 2).keys).toBe(2)
  })

  it.each(['', '"', '"\\', ']]]]', '{"a', '\u0000'])('ends for text that is not JSON: %j', (text) => {
    expect(measure(text).depth).toBeLessThanOrEqual(1)
  })
})

describe('countValues', () => {
  it('counts keys and values of nested values', () => {
    expect(countValues({ a: [1, { b: 'c' }], d: null }, 100)).toBe(9)
  })

  it('stops at the limit', () => {
    expect(countValues(Array.from({ length: 1_000 }), 10)).toBe(10)
  })
})
