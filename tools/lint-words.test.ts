import { describe, expect, it } from 'vitest'
import { lintText, splitIdentifier, splitSource } from './lint-words.ts'
import { exceptions, wordRules } from './word-rules.ts'

const foundIn = (text: string, file = 'src/x/y.ts') => lintText(file, text).map(({ line, found }) => `${line} ${found}`)

describe('the glossary lint', () => {
  it('reports file, line, word and replacement', () => {
    expect(lintText('src/x/y.ts', 'const a = 1\n/** Made anew. */\n')).toEqual([
      { file: 'src/x/y.ts', line: 2, found: 'anew', use: 'again' },
    ])
  })

  it('splits identifiers at capitals and does not match substrings', () => {
    expect(splitIdentifier('pendingIPSetWishes2')).toEqual(['pending', 'ip', 'set', 'wishes'])
    expect(foundIn('const networkWishes = refreshed(mushroom, history)')).toEqual(['1 networkWishes'])
  })

  it('reports odd variables, but neither members, keys nor the test runner', () => {
    expect(foundIn('list.map((one) => one.at(0))')).toEqual(['1 one', '1 one'])
    expect(foundIn('const { at: time } = { at: list.at(-1) }')).toEqual([])
    expect(foundIn('const at = 1')).toEqual(['1 at'])
    expect(foundIn('({ reason, at: now })')).toEqual([])
    expect(foundIn('(reason: string, at: number) => 1')).toEqual(['1 at'])
    expect(foundIn('ready ? at : never')).toEqual(['1 at'])
  })

  it('matches phrases in comments and strings only', () => {
    expect(foundIn("say('It is told nobody') // for ever")).toEqual(['1 is told', '1 nobody', '1 for ever'])
    expect(foundIn('a controller, or a person who waits', 'docs/a.md')).toEqual([])
    expect(foundIn('a controller who waits', 'docs/a.md')).toEqual(['1 who'])
  })

  it('checks file names', () => {
    expect(lintText('src/deploy/lookout.ts', '').map(({ found }) => found)).toEqual(['file name: lookout'])
  })

  it('checks only the names of tests', () => {
    const text =
      "const one = 'nobody'\nit('tells nobody', () => {})\nit.each(['nobody'])('asks somebody %s', () => {})\n"
    expect(foundIn(text, 'src/x/y.test.ts')).toEqual(['2 nobody', '3 somebody'])
  })

  it('separates code from nested templates, strings, comments and regular expressions', () => {
    const kinds = (text: string) => splitSource(text).map(({ kind, text: part }) => `${kind}:${part}`)
    expect(kinds('`a ${b ? `c ${{ d }.d}` : e} f` + g')).toEqual([
      'string:`a ${',
      'code:b ? ',
      'string:`c ${',
      'code:{ d }.d',
      'string:}`',
      'code: : e',
      'string:} f`',
      'code: + g',
    ])
    expect(kinds("a(/['\"/]/, 'b\\'') // c")).toEqual([
      'code:a(',
      'code:/[\'"/]/',
      'code:, ',
      "string:'b\\''",
      'code:) ',
      'comment:// c',
    ])
  })

  it('has a replacement for every rule and a reason for every exception', () => {
    expect(wordRules.length).toBeGreaterThan(30)
    for (const { use } of wordRules) expect(use).not.toBe('')
    for (const { reason } of exceptions) expect(reason.length).toBeGreaterThan(10)
  })
})
