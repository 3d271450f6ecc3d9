import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sameJson } from '../api/same-json.ts'
import { applyPatch, comparePatch } from './patch.ts'

const items = fc.uniqueArray(fc.record({ id: fc.string({ maxLength: 3 }), value: fc.nat(3) }), {
  selector: ({ id }) => id,
})
const document = fc.record({ title: fc.string(), list: items, other: items, plain: fc.array(fc.nat(2)) })

describe('patches', () => {
  it('turn the first document into the second one', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        const patch = comparePatch(before, after, sameJson)
        expect(patch ? applyPatch(before, patch) : before).toEqual(after)
      }),
    )
  })

  it('are absent for equal documents, and survive JSON', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        expect(comparePatch(before, structuredClone(before), sameJson)).toBeUndefined()
        const sent = JSON.parse(JSON.stringify(comparePatch(before, after, sameJson) ?? {})) as object
        expect(applyPatch(before, sent)).toEqual(after)
      }),
    )
  })

  it('send one changed item alone', () => {
    const before = { list: Array.from({ length: 50 }, (_, index) => ({ id: `${index}`, value: 0 })) }
    const after = { list: before.list.map((item) => (item.id === '7' ? { ...item, value: 1 } : item)) }
    expect(comparePatch(before, after, sameJson)).toEqual({ set: { list: [{ id: '7', value: 1 }] } })
  })
})
