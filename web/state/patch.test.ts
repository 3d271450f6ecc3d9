import { describe, expect, it } from 'vitest'
import { applyPatch } from './patch.ts'

const document = {
  version: 1,
  summary: 'two',
  clouds: [
    { id: 'a', state: 'ready' },
    { id: 'b', state: 'ready' },
    { id: 'c', state: 'failed' },
  ],
}

describe('applyPatch', () => {
  it('replaces single items and keeps the identity of the others', () => {
    const changed = applyPatch(document, { version: 2, set: { clouds: [{ id: 'b', state: 'failed' }] } })
    expect(changed.clouds.map(({ state }) => state)).toEqual(['ready', 'failed', 'failed'])
    expect(changed.clouds[0]).toBe(document.clouds[0])
    expect(changed.version).toBe(2)
    expect(document.clouds[1]?.state).toBe('ready')
  })

  it('removes items, adds new ones at the end, and replaces fields', () => {
    const changed = applyPatch(document, {
      version: 3,
      fields: { summary: 'three' },
      remove: { clouds: ['a'] },
      set: { clouds: [{ id: 'd', state: 'planned' }] },
    })
    expect(changed.clouds.map(({ id }) => id)).toEqual(['b', 'c', 'd'])
    expect(changed.summary).toBe('three')
  })

  it('puts a list into a new order', () => {
    const order = { clouds: ['c', 'a', 'b'] }
    expect(applyPatch(document, { version: 4, order }).clouds.map(({ id }) => id)).toEqual(['c', 'a', 'b'])
  })

  it('fills a list that the document did not have', () => {
    const changed: object = applyPatch({ version: 1 }, { version: 2, set: { live: [{ id: 'x' }] } })
    expect(changed).toEqual({ version: 2, live: [{ id: 'x' }] })
  })
})
