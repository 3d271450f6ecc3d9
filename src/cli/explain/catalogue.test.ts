import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findDrift, findingPages } from '../../../tools/generate-docs.ts'
import * as common from '../../errors/common.ts'
import { finding } from '../../errors/finding.ts'
import { catalogue } from './catalogue.ts'

describe('the catalogue', () => {
  it('gives every problem a code of its own, and loses none', async () => {
    const notAreas = new Set(['catalogue', 'codes', 'failure', 'finding', 'nearest', 'story'])
    const areas = readdirSync(import.meta.dirname)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => name.replace(/\.ts$/, ''))
      .filter((name) => !notAreas.has(name))
    const modules = await Promise.all(
      areas.map((name) => import(`./${name}.ts`) as Promise<Record<string, { code: string }>>),
    )
    const codes = modules.flatMap((module) => Object.values(module).map(({ code }) => code))
    expect(new Set(codes).size).toBe(codes.length)
    expect([...catalogue.keys()].sort()).toEqual(codes.sort())
  })

  it.each([...catalogue.values()].map((listedProblem) => [listedProblem.code, listedProblem] as const))(
    '%s says what is wrong and what to do, in full',
    (code, one) => {
      expect(code).toMatch(/^SL[1-9]\d{3}$/)
      const texts = [one.title, one.sample.message, one.sample.remedy, one.description]
      for (const text of texts) {
        expect(text.trim().length).toBeGreaterThan(8)
        expect(text).not.toMatch(/undefined|\[object|NaN/)
      }
    },
  )

  it('is what docs/findings/ says, in both directions', () => {
    expect(findDrift(findingPages(catalogue.values()), 'docs/findings')).toEqual([])
  })

  it('makes findings with the place and the owners of this case', () => {
    const made = finding(
      common.unreadableFile,
      { file: 'a', reason: 'b' },
      { where: { file: 'a', line: 1, column: 2 } },
    )
    expect(made).toEqual({
      code: 'SL1002',
      severity: 'error',
      message: 'cannot read a: b',
      remedy: 'check that a exists and that you may read it',
      where: { file: 'a', line: 1, column: 2 },
    })
  })
})
