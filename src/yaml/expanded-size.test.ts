import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { findExpansion } from './expanded-size.ts'

const doubled = (levels: number): string =>
  ['a0: &a0 [1, 1]', ...Array.from({ length: levels }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`)].join('\n')
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
const check = (text: string): string | undefined =>
  findExpansion(text.startsWith('[[') ? JSON.parse(text) : load(text), text.length)

describe('findExpansion', () => {
  it.each([['a: 1'], ['{}'], ['- &a {b: [1, 2]}\n- *a\n- *a'], [doubled(10)], [nested(400)]])('accepts %j', (text) =>
    expect(check(text)).toBeUndefined(),
  )

  it.each([
    ['aliases that double at each level', doubled(60), 'aliases'],
    ['a list in itself', '&a [*a]', 'levels'],
    ['a mapping in itself', 'a: &a {b: {c: *a}}', 'levels'],
    ['a list that has itself often', '&a [*a, *a, *a, *a]', 'levels'],
    ['many levels', nested(600), 'levels'],
  ])('reports %s', (_, text, reason) => expect(check(text)).toContain(reason))
})
