/**
 * Compares `src/ini` with the real oslo.config on thousands of generated files: values and refusals must be the same.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { effectiveValues, mergeIni } from '../../../src/ini/merge.ts'
import { parseIni, type SyntaxErrorKind } from '../../../src/ini/parse.ts'
import { escapeDollars, expandReferences } from '../../../src/ini/substitute.ts'
import { writeIni } from '../../../src/ini/write.ts'
import { count } from '../../counts.ts'

// Debian's modules need Debian's Python, which need not be the first in PATH.
const PYTHON = '/usr/bin/python3'
const present = spawnSync(PYTHON, ['-c', 'import oslo_config']).status === 0
const runs = { numRuns: count({ test: 500, soak: 20_000 }) }
const parseRuns = { numRuns: count({ test: 2000, soak: 20_000 }) }
const TIMEOUT = 300_000

type Answer = Readonly<Record<string, unknown>>
let oracle: ChildProcessWithoutNullStreams | undefined
let answers: AsyncIterator<string> | undefined

beforeAll(() => {
  if (!present) return
  const env = { ...process.env, PYTHONUTF8: '1' }
  oracle = spawn(PYTHON, [path.join(import.meta.dirname, 'oslo-config.py')], { env })
  oracle.stderr.pipe(process.stderr)
  answers = createInterface(oracle.stdout)[Symbol.asyncIterator]()
})

afterAll(() => void oracle?.stdin.end())

function needsOracle(context: TestContext): void {
  if (!present) context.skip('python3-oslo.config is not installed')
}

async function ask(question: object): Promise<Answer> {
  oracle?.stdin.write(`${JSON.stringify(question)}\n`)
  const answer = await answers?.next()
  if (!answer || answer.done) throw new Error('oslo.config ended')
  return JSON.parse(answer.value) as Answer
}

/** Valid and malformed headers, options, continuations and comments. */
const line = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('[DEFAULT]', '[a]', '[A]', '[default]', '[ b ]', '[[c]]') },
  { weight: 6, arbitrary: fc.constantFrom('x = 1', 'x: 2', 'y=', 'y = a=b', 'z : c', 'X = "q"', "w = 'r") },
  { weight: 2, arbitrary: fc.constantFrom('  more', '\tmore', ' x = 3', '   # c', '  [a]', ' ', '\t') },
  { weight: 2, arbitrary: fc.constantFrom('', '# c', '; c', '#', 'url = r://u:p#1;x@h ; c') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('[]', '[', '[a', '[a] # c', '= v', ': v', 'word', '\ufeff[a]', ']'),
  },
  {
    weight: 2,
    arbitrary: fc.string({
      unit: fc.constantFrom(
        ...Array.from('[]=:#; \t"\'ab$\v\f\x1c\x1d\x1f\x85\xa0\u2028\u2029\u3000\ufeff\u200b\u180e'),
      ),
      maxLength: 8,
    }),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
)
const file = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(line, fc.constantFrom('\n', '\n', '\n', '\r\n', '\r'))), fc.boolean())
  .map(([good, lines, ended]) => {
    const text = `${good ? '[DEFAULT]\n' : ''}${lines.map((parts) => parts.join('')).join('')}`
    return ended ? text : text.replace(/[\r\n]+$/, '')
  })

const refusals: Readonly<Record<SyntaxErrorKind, string>> = {
  'no-section': 'Section must be started before assignment',
  'no-separator': "No ':' or '=' found in assignment",
  'empty-key': 'Key cannot be empty',
  'unclosed-section': 'Invalid section (must end with ])',
  'empty-section': 'Empty section name',
  'stray-continuation': 'Unexpected continuation line',
}

/** Our result for a file, in the oracle's format. */
function ours(text: string): Answer {
  const { assignments, sections, errors } = parseIni(text)
  if (errors[0]) return { refused: refusals[errors[0].kind], line: errors[0].noticed }
  const found = new Map(sections.map(({ name }) => [name, new Map<string, string[]>()]))
  for (const { section, key, value } of assignments) {
    const options = found.get(section)
    options?.set(key, [...(options.get(key) ?? []), value])
  }
  return { sections: [...found].map(([name, options]) => [name, [...options]]) }
}

describe('the real oslo.config', () => {
  it(
    'parses every file to the same values, or refuses it for the same reason at the same line',
    async (context) => {
      needsOracle(context)
      let refused = 0
      await fc.assert(
        fc.asyncProperty(file, async (text) => {
          const answer = await ask({ kind: 'parse', text })
          if ('refused' in answer) refused += 1
          expect(ours(text)).toEqual(answer)
        }),
        parseRuns,
      )
      // Both outcomes must be common, or the comparison proves little.
      expect(refused).toBeGreaterThan(parseRuns.numRuns / 10)
      expect(refused).toBeLessThan((parseRuns.numRuns * 9) / 10)
    },
    TIMEOUT,
  )

  it(
    'reads back what we write',
    async (context) => {
      needsOracle(context)
      const value = fc.string({ unit: fc.constantFrom(...Array.from('ab "\'#;=:[]\t\n$\\\xa0é')) })
      await fc.assert(
        fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 4 }), async (values) => {
          const written = writeIni(values.map((value) => ({ section: 'a', key: 'k', value: value })))
          if (written.kind === 'refused') return
          expect(await ask({ kind: 'parse', text: written.text })).toEqual({
            sections: [['a', [['k', values]]]],
          })
        }),
        runs,
      )
    },
    TIMEOUT,
  )

  it(
    'merges several files to the same values',
    async (context) => {
      needsOracle(context)
      const assignment = fc.tuple(
        fc.constantFrom('DEFAULT', 'default', 'group', 'GROUP', 'other'),
        fc.constantFrom('single', 'multi', 'Single'),
        fc.constantFrom('1', '2', '3', ''),
      )
      const text = fc
        .array(assignment)
        .map((all) => all.map(([section, key, value]) => `[${section}]\n${key} = ${value}\n`).join(''))
      await fc.assert(
        fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 4 }), async (files) => {
          const merged = mergeIni(
            files.map((file, index) => ({ file: `${index}`, assignments: parseIni(file).assignments })),
          )
          const read = (section: string, key: string): readonly string[] | undefined => {
            const option = merged.find((mergedOption) => mergedOption.section === section && mergedOption.key === key)
            // Only the service knows which options are multi-valued: here the name tells.
            const kind = key === 'multi' ? 'multi' : 'single'
            return option && effectiveValues({ ...option, kind }).map((effectiveValue) => effectiveValue.value)
          }
          const both = (section: string) => [read(section, 'single')?.[0] ?? null, read(section, 'multi') ?? null]
          expect({ DEFAULT: both('DEFAULT'), group: both('group') }).toEqual(await ask({ kind: 'merge', files }))
        }),
        runs,
      )
    },
    TIMEOUT,
  )

  it(
    'expands $ references to the same text, and fails where the option is unknown',
    async (context) => {
      needsOracle(context)
      const options: Readonly<Record<string, string>> = { a: 'A', my_ip: '192.0.2.1', 'g.b': 'B' }
      const unit = fc.constantFrom('$', '$a', '${a}', '$g.b', '\\', '{', '}', '.', 'x', '$$', '1', ' ', '$my_ip', 'ſ')
      await fc.assert(
        fc.asyncProperty(fc.string({ unit }), async (value) => {
          const mine = expandReferences(value, (name) => options[name])
          const answer = await ask({ kind: 'expand', value, options })
          if (mine.kind === 'value') expect(answer).toEqual({ value: mine.value })
          else expect(answer).toEqual({ unknown: true })
          expect(await ask({ kind: 'expand', value: escapeDollars(value), options })).toEqual({ value })
        }),
        runs,
      )
    },
    TIMEOUT,
  )
})
