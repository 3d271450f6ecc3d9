import { describe, expect, it } from 'vitest'
import { type AddressAsk, type AddressGrants, assignAddresses } from './addresses.ts'

function assign(ask: Partial<AddressAsk>): AddressGrants {
  return assignAddresses({
    family: 4,
    spans: [{ family: 4, first: 10n, last: 14n }],
    excluded: [],
    names: [],
    pins: new Map(),
    locked: new Map(),
    keeps: () => false,
    ...ask,
  })
}

describe('addresses', () => {
  it('are given to pins first, then as the lock says, then the lowest free', () => {
    const { given } = assign({
      names: ['new', 'locked', 'pinned'],
      pins: new Map([['pinned', 10n]]),
      locked: new Map([['locked', 11n]]),
    })
    expect(given).toEqual([12n, 11n, 10n])
  })

  it('are given once, also where spans overlap', () => {
    const spans = [
      { family: 4, first: 10n, last: 12n },
      { family: 4, first: 11n, last: 14n },
    ] as const
    const { given, missing } = assign({ spans, names: ['a', 'b', 'c', 'd', 'e', 'f'] })
    expect(given).toEqual([10n, 11n, 12n, 13n, 14n, undefined])
    expect(missing).toEqual(['f'])
  })

  it('that somebody held who left are given to nobody, and none that is excluded', () => {
    const { given } = assign({
      names: ['a', 'b'],
      excluded: [{ family: 4, first: 11n, last: 11n }],
      locked: new Map([['gone', 10n]]),
    })
    expect(given).toEqual([12n, 13n])
  })

  it('that two are pinned to are a clash, with the holder', () => {
    const { clashes } = assign({
      names: ['a', 'b'],
      pins: new Map([
        ['a', 10n],
        ['b', 10n],
      ]),
    })
    expect(clashes).toEqual([{ name: 'b', holder: 'a', address: { family: 4, value: 10n } }])
  })
})
