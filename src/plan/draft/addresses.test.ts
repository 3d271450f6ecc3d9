import { describe, expect, it } from 'vitest'
import { type AddressAssignment, type AddressRequest, assignAddresses } from './addresses.ts'

function assign(request: Partial<AddressRequest>): AddressAssignment {
  return assignAddresses({
    family: 4,
    spans: [{ family: 4, first: 10n, last: 14n }],
    excluded: [],
    names: [],
    pins: new Map(),
    locked: new Map(),
    keepOutside: () => false,
    ...request,
  })
}

describe('assignAddresses', () => {
  it('assigns pins first, then locked addresses, then the lowest free one', () => {
    const { values } = assign({
      names: ['new', 'locked', 'pinned'],
      pins: new Map([['pinned', 10n]]),
      locked: new Map([['locked', 11n]]),
    })
    expect(values).toEqual([12n, 11n, 10n])
  })

  it('assigns an address once, also where spans overlap', () => {
    const spans = [
      { family: 4, first: 10n, last: 12n },
      { family: 4, first: 11n, last: 14n },
    ] as const
    const { values, missing } = assign({ spans, names: ['a', 'b', 'c', 'd', 'e', 'f'] })
    expect(values).toEqual([10n, 11n, 12n, 13n, 14n, undefined])
    expect(missing).toEqual(['f'])
  })

  it('assigns neither an excluded address nor one of a holder that left', () => {
    const { values } = assign({
      names: ['a', 'b'],
      excluded: [{ family: 4, first: 11n, last: 11n }],
      locked: new Map([['gone', 10n]]),
    })
    expect(values).toEqual([12n, 13n])
  })

  it('reports the holder of an address that two names pin', () => {
    const { pinConflicts } = assign({
      names: ['a', 'b'],
      pins: new Map([
        ['a', 10n],
        ['b', 10n],
      ]),
    })
    expect(pinConflicts).toEqual([{ name: 'b', holder: 'a', address: { family: 4, value: 10n } }])
  })
})
