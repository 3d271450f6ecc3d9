import { expect, it } from 'vitest'
import { type LimitMatch, matchLimit } from './ansible-limit.ts'

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
