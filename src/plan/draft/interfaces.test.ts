import { describe, expect, it } from 'vitest'
import { freeBridgeName, NAME_LIMIT } from './interfaces.ts'

describe('the name of a bridge', () => {
  it('is the plain one for the first who wants it', () => {
    expect(freeBridgeName('ospbr', 24, new Set())).toBe('ospbr')
  })

  it("has the VLAN's number for everybody else", () => {
    expect(freeBridgeName('ospbr', 24, new Set(['ospbr']))).toBe('ospbr24')
  })

  it('has the number two for the second one without a VLAN, and then three', () => {
    expect(freeBridgeName('ospbr', 'untagged', new Set(['ospbr']))).toBe('ospbr2')
    expect(freeBridgeName('ospbr', 'untagged', new Set(['ospbr', 'ospbr2']))).toBe('ospbr3')
  })

  it('keeps its number where the whole would be too long for an interface', () => {
    const base = 'br-storagebacke'
    expect(base).toHaveLength(NAME_LIMIT)
    expect(freeBridgeName(base, 4094, new Set([base]))).toBe('br-storageb4094')
  })
})
