import { expect, it } from 'vitest'
import { isWithinLimit, type LimitMatch, matchLimit } from './ansible-limit.ts'

it.each<[string, LimitMatch]>([
  ['', 'within'],
  ['*', 'within'],
  ['all', 'within'],
  ['computes', 'within'],
  ['compute-0', 'within'],
  ['compute-1,compute-0', 'within'],
  ['compute-1:compute-0', 'within'],
  ['compute-*', 'within'],
  // A glob is compared with the names of groups too, and every host is in `all`.
  ['a*', 'within'],
  ['compute-1', 'outside'],
  ['compute-0.example.com', 'outside'],
  ['!compute-0', 'outside'],
  ['computes,!compute-0', 'outside'],
  ['all,&computes', 'within'],
  ['all,&others', 'outside'],
  ['compute-[0:3]', 'unknown'],
  ['~compute-.*', 'unknown'],
  ['@retry', 'unknown'],
])('matchLimit decides whether compute-0 of node set computes is in the limit %j: %s', (limit, match) => {
  expect(matchLimit('compute-0', ['computes'], limit)).toBe(match)
})

// Without a time limit: an expression with so many stars does not end.
it('a glob with many stars is compared with a long name in linear time', () => {
  const glob = `${'*a'.repeat(60)}*b`
  const name = 'a'.repeat(240)
  expect(isWithinLimit(name, glob)).toBe(false)
  expect(matchLimit(name, [], glob)).toBe('outside')
  expect(isWithinLimit(`${name}b`, glob)).toBe(true)
})
