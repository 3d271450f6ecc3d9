import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withPredecessors } from './graph.ts'
import { selectStages } from './selection.ts'
import { type Stage, stageId } from './stage.ts'

function stage(name: string, cloud: string | undefined, after: readonly string[]): Stage {
  return {
    id: stageId(name, cloud),
    name,
    ...(cloud !== undefined && { cloud }),
    after: after.map((id) => ({ id, why: 'order' })),
    locks: [],
    work: async () => undefined,
  }
}

const site: readonly Stage[] = [
  stage('nmstate', undefined, []),
  stage('nncp', undefined, ['nmstate']),
  ...['rhoso1', 'rhoso2'].flatMap((cloud) => [
    stage('namespace', cloud, []),
    stage('netattach', cloud, [`${cloud}/namespace`, 'nncp']),
    stage('control-plane', cloud, [`${cloud}/netattach`]),
  ]),
]

const ids = (selection: Parameters<typeof selectStages>[1]) => selectStages(site, selection).stages.map(({ id }) => id)

describe('selectStages', () => {
  it('selects everything by default', () => {
    expect(ids({})).toHaveLength(site.length)
  })

  it('selects one cloud with the shared stages', () => {
    expect(ids({ clouds: ['rhoso2'] })).toEqual([
      'nmstate',
      'nncp',
      'rhoso2/namespace',
      'rhoso2/netattach',
      'rhoso2/control-plane',
    ])
  })

  it('selects a stage of every cloud by name, or of one cloud by id', () => {
    expect(ids({ stages: ['netattach'] })).toEqual(['rhoso1/netattach', 'rhoso2/netattach'])
    expect(ids({ stages: ['rhoso1/netattach'] })).toEqual(['rhoso1/netattach'])
  })

  it('selects up to a stage with its dependencies, and from a stage with its dependents', () => {
    expect(ids({ until: ['nncp'] })).toEqual(['nmstate', 'nncp'])
    expect(ids({ from: ['rhoso2/netattach'] })).toEqual(['rhoso2/netattach', 'rhoso2/control-plane'])
  })

  it('keeps the order of the remaining stages when one in between is skipped', () => {
    const kept = selectStages(site, { skip: ['netattach'] }).stages
    const controlPlane = kept.find(({ id }) => id === 'rhoso1/control-plane')
    expect(controlPlane?.after.map(({ id }) => id)).toEqual(['rhoso1/namespace', 'nncp'])
  })

  it('suggests the closest name for an unknown one, and selects nothing', () => {
    const { stages, findings } = selectStages(site, { stages: ['netatach'], clouds: ['rhosso1'] })
    expect(stages).toEqual([])
    expect(findings.map((finding) => finding.message)).toEqual([
      'the site has no cloud rhosso1; did you mean rhoso1?',
      'no stage is called netatach; did you mean netattach?',
    ])
  })

  it('reports options that exclude each other', () => {
    expect(selectStages(site, { stages: ['control-plane'], until: ['nncp'] }).findings[0]?.code).toBe('SL4003')
  })

  it('never loses the order of two kept stages (property)', () => {
    const names = fc.subarray(site.map(({ id }) => id))
    fc.assert(
      fc.property(names, (skip) => {
        const kept = selectStages(site, { skip }).stages
        for (const { id } of kept) {
          const before = withPredecessors([id], site)
          const expected = kept.map((stage) => stage.id).filter((one) => before.has(one))
          expect([...withPredecessors([id], kept)].sort()).toEqual(expected.sort())
        }
      }),
    )
  })
})
