import { readFileSync } from 'node:fs'
import { CORE_SCHEMA, load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { filesBelow } from '../../../tools/files.ts'
import { findingPages } from '../../../tools/finding-pages.ts'
import { findDrift } from '../../../tools/generate-docs.ts'
import { readData } from '../../data/data.ts'
import { unreadableFile } from '../../errors/common.ts'
import { finding } from '../../errors/finding.ts'
import type { CommandEntry } from '../command.ts'
import { commands } from '../commands.ts'
import { main } from '../main.ts'
import { catalogue } from './catalogue.ts'

/** A command that is no part of a sentence: its program, and an argument. */
const COMMAND = /(?<![\w./$-])(?:brew|kubectl|limactl|oc|stackloom|systemctl) (?:-|[a-z])/

const withoutActions: readonly CommandEntry[] = commands.map((entry) => ({
  ...entry,
  load: async () => {
    const { define } = await entry.load()
    return { define: (command, { io }) => define(command, { io, act: async () => undefined }) }
  },
}))

/** What the program says about the words before it would do anything. */
async function parseCommand(words: string): Promise<string> {
  const io = testIo()
  await main(words.split(/\s+/), io, withoutActions)
  return io.err()
}

/** Up to a pipe: what follows is another program. */
function ownCommands(text: string): readonly string[] {
  return [...text.matchAll(/`stackloom (\S[^`|]*)/g)].map(([, words = '']) => words.trim())
}

describe('the catalogue', () => {
  it('lists every problem defined in src, each with its own code', () => {
    const defined = filesBelow('.', 'src')
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/^ {2,4}code: '(SL\d{4})',$/gm)])
      .map(([, code = '']) => code)
    expect(defined.length).toBeGreaterThan(500)
    expect([...catalogue.keys()].sort()).toEqual(defined.sort())
  })

  it('has severity info for what leaves nothing to do', () => {
    const idle = [...catalogue.values()].filter(({ sample }) => /^nothing to do\b/.test(sample.remedy))
    expect(idle.length).toBeGreaterThan(5)
    expect(idle.filter(({ severity }) => severity !== 'info').map(({ code }) => code)).toEqual([])
  })

  it.each([...catalogue.values()].map((problem) => [problem.code, problem] as const))(
    '%s has a title, message, remedy and description without gaps',
    (code, { title, sample, description }) => {
      expect(code).toMatch(/^SL[1-9]\d{3}$/)
      for (const text of [title, sample.message, sample.remedy, description]) {
        expect(text.trim().length).toBeGreaterThan(8)
        expect(text).not.toMatch(/undefined|\[object|NaN/)
      }
    },
  )

  it.each([...catalogue.values()].map((problem) => [problem.code, problem] as const))(
    '%s has its commands in backticks, and those of this program can be run',
    async (_, { sample, description }) => {
      expect(`${sample.remedy} ${description}`.replace(/`[^`]+`/g, '')).not.toMatch(COMMAND)
      for (const words of ownCommands(sample.remedy)) expect(await parseCommand(words), words).toBe('')
      // A description may name a command without what it needs.
      for (const words of ownCommands(description)) expect(await parseCommand(words)).not.toMatch(/unknown|too many/)
    },
  )

  it('would notice a command that cannot be run', async () => {
    expect('run stackloom hosts --failed').toMatch(COMMAND)
    expect(await parseCommand('hosts --fialed')).toContain("unknown option '--fialed'")
    expect(await parseCommand('ipam repair')).toContain('ipam')
  })

  it('has a text for every problem and no other', () => {
    const texts = load(readData('findings.yaml'), { schema: CORE_SCHEMA }) as object
    expect(Object.keys(texts)).toEqual([...catalogue.keys()])
  })

  it('agrees with docs/findings in both directions', () => {
    expect(findDrift(findingPages(catalogue.values()), 'docs/findings')).toEqual([])
  })

  it('makes findings with the place and the owners of the case', () => {
    const where = { file: 'a', line: 1, column: 2 }
    expect(finding(unreadableFile, { file: 'a', reason: 'b' }, { where, owners: ['c'] })).toEqual({
      code: 'SL1002',
      severity: 'error',
      message: 'cannot read a: b',
      remedy: 'check that a exists and that you may read it',
      where,
      owners: ['c'],
    })
  })
})
