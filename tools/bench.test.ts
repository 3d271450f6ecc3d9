import { describe, expect, it } from 'vitest'
import { misnamedFigures, selectAreas } from './bench.ts'
import { type Figure, formatFigure, missesTarget } from './figure.ts'
import { compare, median, once, runNode } from './measure.ts'

const figure = (name: string, target?: Figure['target']): Figure => ({
  name,
  unit: 'x',
  ...(target && { target }),
  measure: async () => 1,
})

describe('a figure', () => {
  it('is printed on one line with value, unit and target', () => {
    const help = figure('cli.help', { op: '<=', value: 2 })
    expect(formatFigure(help, 1.3789)).toBe('bench cli.help 1.38 x (target <= 2)')
    expect(formatFigure(figure('a.b'), 1234.5)).toBe('bench a.b 1235 x (no target)')
  })

  it('misses its target on the wrong side, and when the measurement is no number', () => {
    const atLeast = figure('a.b', { op: '>=', value: 10 })
    expect([9.9, 10, Number.NaN].map((value) => missesTarget(atLeast, value))).toEqual([true, false, true])
    expect(missesTarget(figure('a.b'), 1e9)).toBe(false)
  })
})

describe('ONLY', () => {
  const files = ['bench/cli.bench.ts', 'bench/plan.bench.ts', 'bench/fixtures/x.ts']
  const names = (prefix: string) => selectAreas(files, prefix).map((selectArea) => selectArea.name)

  it('selects by the beginning of <area>.<figure>, and loads no other area', () => {
    expect(names('')).toEqual(['cli', 'plan'])
    expect(names('pl')).toEqual(['plan'])
    expect(names('plan.clouds')).toEqual(['plan'])
    expect(names('planner')).toEqual([])
  })

  it('reports figures that are not named after their file', () => {
    expect(misnamedFigures('plan', [figure('plan.a'), figure('cli.a')])).toEqual(['cli.a'])
  })
})

describe('measuring', () => {
  it('alternates between both sides and compares medians', async () => {
    const turns: string[] = []
    const result = await compare({
      ours: () => turns.push('ours') && 30,
      theirs: () => turns.push('theirs') && 10,
      rounds: 3,
      warmUp: 0,
    })
    expect(turns).toEqual(['ours', 'theirs', 'theirs', 'ours', 'ours', 'theirs'])
    expect(result).toEqual({ ours: 30, theirs: 10, ratio: 3 })
    expect(median([5, 1, 3])).toBe(3)
    expect(median([1, 2])).toBe(1.5)
  })

  it('runs a shared measurement once', async () => {
    let runs = 0
    const shared = once(async () => (runs += 1))
    expect([await shared(), await shared(), runs]).toEqual([1, 1, 1])
  })

  it('reports the peak memory of the child, not of its parent', async () => {
    const ballast = Buffer.alloc(400 << 20, 1)
    const small = await runNode(['-e', 'console.log(1)'])
    const large = await runNode(['-e', 'globalThis.keep = Buffer.alloc(300 << 20, 1)'])
    expect(ballast.length).toBeGreaterThan(0)
    expect(small.stdout).toBe('1\n')
    expect(small.peakMiB).toBeLessThan(200)
    expect(large.peakMiB).toBeGreaterThan(300)
  })
})
