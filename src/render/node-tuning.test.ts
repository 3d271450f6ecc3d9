import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import { renderNodeTuning } from './node-tuning.ts'
import { installRequirements } from './operators.ts'
import { renderDocuments } from './render.ts'

interface Spec {
  readonly profile: readonly { readonly name: string; readonly data: string }[]
  readonly recommend: readonly { readonly profile: string; readonly priority: number; readonly match: unknown }[]
}

function specOf(plan: Parameters<typeof renderNodeTuning>[0]): Spec | undefined {
  return renderNodeTuning(plan)[0]?.['spec'] as Spec | undefined
}

describe('kernel settings of the nodes', () => {
  it('make nodes answer ARP for an address on its own segment only, without losing the profile of the node', () => {
    const spec = specOf(testPlan({ nodes: 2 }))
    expect(spec?.profile.map(({ name }) => name)).toEqual(['stackloom-control-plane', 'stackloom-node'])
    for (const [index, include] of ['openshift-control-plane', 'openshift-node'].entries()) {
      const lines = spec?.profile[index]?.data.split('\n')
      expect(lines).toContain(`include=${include}`)
      expect(lines).toContain('net.ipv4.conf.all.arp_ignore=1')
    }
  })

  it('win over the profiles of OpenShift and lose against that of a PerformanceProfile', () => {
    const priorities = specOf(testPlan({ nodes: 1 }))?.recommend.map(({ priority }) => priority) ?? []
    expect(Math.max(...priorities)).toBeLessThan(30)
    expect(Math.min(...priorities)).toBeGreaterThan(20)
  })

  it('are recommended for the nodes of the site, and for those of the control plane with their own profile', () => {
    const hostname = 'kubernetes.io/hostname'
    const match = [{ label: 'node-role.kubernetes.io/master' }, { label: 'node-role.kubernetes.io/infra' }]
    expect(specOf(testPlan({ nodes: 2 }))?.recommend.map((entry) => entry.match)).toEqual([
      ['worker-0', 'worker-1'].map((value) => ({ label: hostname, value, match })),
      ['worker-0', 'worker-1'].map((value) => ({ label: hostname, value })),
    ])
  })

  it('are applied with node networking, for all clouds', () => {
    const tuned = renderDocuments(testPlan({ nodes: 1 })).filter(({ object }) => object.kind === 'Tuned')
    expect(tuned.map(({ stage, cloud }) => ({ stage, cloud }))).toEqual([{ stage: 'nncp', cloud: undefined }])
  })

  it('are left to the administrator where there is no Node Tuning Operator', () => {
    const plan = testPlan({ nodes: 1, cluster: { platform: 'kubernetes' } })
    expect(renderNodeTuning(plan)).toEqual([])
    expect(installRequirements(plan).at(-1)).toContain('net.ipv4.conf.all.arp_ignore=1')
  })

  it('are not rendered where nodes may answer on any segment', () => {
    const isolation = { nodeAddresses: 'any-segment' }
    expect(renderNodeTuning(testPlan({ nodes: 1, cluster: { isolation } }))).toEqual([])
    const plain = testPlan({ nodes: 1, cluster: { platform: 'kubernetes', isolation } })
    expect(installRequirements(plain).join()).not.toContain('arp_ignore')
  })
})
