import { readFileSync } from 'node:fs'
import { CORE_SCHEMA, load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { filesBelow } from '../../../tools/files.ts'
import { findingPages } from '../../../tools/finding-pages.ts'
import { findDrift } from '../../../tools/generate-docs.ts'
import { readData } from '../../data/data.ts'
import { unreadableFile } from '../../errors/common.ts'
import { finding } from '../../errors/finding.ts'
import { catalogue } from './catalogue.ts'

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
