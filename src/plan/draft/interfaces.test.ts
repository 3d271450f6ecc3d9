import { describe, expect, it } from 'vitest'
import { freeBridgeName, NAME_LIMIT } from './interfaces.ts'

describe('freeBridgeName', () => {
  it('returns the plain name while it is free', () => {
    expect(freeBridgeName('ospbr', 24, new Set())).toBe('ospbr')
  })

  it('appends the VLAN id when the plain name is taken', () => {
    expect(freeBridgeName('ospbr', 24, new Set(['ospbr']))).toBe('ospbr24')
  })

  it('counts from two for untagged networks', () => {
    expect(freeBridgeName('ospbr', 'untagged', new Set(['ospbr']))).toBe('ospbr2')
    expect(freeBridgeName('ospbr', 'untagged', new Set(['ospbr', 'ospbr2']))).toBe('ospbr3')
  })

  it('shortens the name, not the number, to the limit of an interface name', () => {
    const base = 'br-storagebacke'
    expect(base).toHaveLength(NAME_LIMIT)
    expect(freeBridgeName(base, 4094, new Set([base]))).toBe('br-storageb4094')
  })
})
