import { describe, expect, it } from 'vitest'
import { findPlaceholders, isPlaceholder } from './placeholders.ts'

describe('isPlaceholder', () => {
  it.each([
    'CHANGEME',
    'CHANGEME_VLAN',
    'change_me',
    '_replaced_',
    '_replaced_/24',
    '_replaced_-_replaced_',
    '<address>',
  ])('is true for %s', (text) => expect(isPlaceholder(text)).toBe(true))

  it.each(['rhoso1', '172.17.0.0/24', 'enp6s0_x', '', '# <None>', '[DEFAULT]\nkey = CHANGEME\n', '<>', '__proto__'])(
    'is false for %j',
    (text) => expect(isPlaceholder(text)).toBe(false),
  )
})

it('finds placeholders at any depth', () => {
  expect(findPlaceholders({ a: [{ b: '_replaced_' }, 'x'], c: 'CHANGEME', d: 1 })).toEqual([['a', 0, 'b'], ['c']])
})
