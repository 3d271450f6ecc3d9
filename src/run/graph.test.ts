import { describe, expect, it } from 'vitest'
import type { StageOutcome } from './events.ts'
import { findBlock, pendingReason, stagesById, validateGraph, withPredecessors, withSuccessors } from './graph.ts'
import { type Stage, stageId } from './stage.ts'

function stage(name: string, after: readonly string[] = [], locks: readonly string[] = []): Stage {
  return {
    id: stageId(name),
    name,
    after: after.map((id) => ({ id, why: `${name} needs ${id}` })),
    locks,
    work: async () => undefined,
  }
}

const chain = [stage('nmstate'), stage('nncp', ['nmstate']), stage('netattach', ['nncp'])]

describe('the graph of stages', () => {
  it('has no findings when it is valid', () => {
    expect(validateGraph(chain)).toEqual([])
  })

  it('shows the whole cycle when stages depend on each other', () => {
    const circle = [stage('a', ['c']), stage('b', ['a']), stage('c', ['b'])]
    expect(validateGraph(circle).map((finding) => finding.message)).toEqual([
      'these stages wait for each other: a -> c -> b -> a',
    ])
  })

  it('names a dependency that does not exist, and an id that exists twice', () => {
    const codes = validateGraph([stage('a', ['gone']), stage('a')]).map((finding) => finding.code)
    expect(codes).toEqual(['SL4006', 'SL4005'])
  })

  it('finds everything before and everything after a stage', () => {
    expect([...withPredecessors(['nncp'], chain)].sort()).toEqual(['nmstate', 'nncp'])
    expect([...withSuccessors(['nncp'], chain)].sort()).toEqual(['netattach', 'nncp'])
  })

  it('names the stage that blocks another, and the failed one at the root', () => {
    const outcomes = new Map<string, StageOutcome>([
      ['nmstate', 'failed'],
      ['nncp', 'blocked'],
    ])
    const known = stagesById(chain)
    const [, nncp, netattach] = chain
    expect(findBlock(nncp as Stage, outcomes, known)).toMatchObject({ by: 'nmstate', root: 'nmstate' })
    expect(findBlock(netattach as Stage, outcomes, known)).toEqual({
      by: 'nncp',
      root: 'nmstate',
      reason: 'needs nncp, which is blocked by nmstate (netattach needs nncp)',
    })
  })

  it('distinguishes waiting for a dependency from waiting for a lock', () => {
    const one = stage('one', ['nmstate'], ['node-networking'])
    const other = stage('other', [], ['node-networking'])
    expect(pendingReason(one, new Map(), [other])).toBe('after nmstate: one needs nmstate')
    expect(pendingReason(one, new Map([['nmstate', 'done']]), [other])).toBe(
      'after other: node-networking is for one stage at a time',
    )
    expect(pendingReason(one, new Map([['nmstate', 'done']]), [])).toBeUndefined()
  })
})
