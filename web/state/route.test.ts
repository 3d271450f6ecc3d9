import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatRoute, parseRoute } from './route.ts'

describe('parseRoute', () => {
  it('reads the view and its state', () => {
    expect(parseRoute('#/addresses?cloud=rhoso1&network=storage')).toEqual({
      view: 'addresses',
      params: { cloud: 'rhoso1', network: 'storage' },
    })
  })

  it('opens the overview for an empty or unknown address', () => {
    for (const hash of ['', '#', '#/', '#/nothing?x=1', '#/__proto__']) expect(parseRoute(hash).view).toBe('overview')
  })
})

describe('formatRoute', () => {
  it('writes one address for one state, whatever the order', () => {
    const route = { view: 'run', params: { b: '2', a: '1', c: '' } } as const
    expect(formatRoute(route)).toBe('#/run?a=1&b=2')
  })

  it('is read back as it was, for any text', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string({ minLength: 1 })), (params) => {
        const { view, params: read } = parseRoute(formatRoute({ view: 'search', params }))
        expect({ view, params: { ...read } }).toEqual({ view: 'search', params: { ...params } })
      }),
    )
  })
})
