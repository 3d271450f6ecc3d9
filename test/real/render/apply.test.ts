import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadReleases } from '../../../src/plan/release/releases.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { formatReleaseData, mergeReleases, readPinnedReleases } from '../../../tools/generate-releases.ts'
import { useCluster } from '../../cluster.ts'
import { eraOfExample, exampleSites, planExample } from '../../examples.ts'
import { applyAll, judgeObjects } from './accepted.ts'

describe('documents of the example sites', () => {
  const cluster = useCluster({ crds: 'today' })
  const names = exampleSites.filter((name) => eraOfExample(name) === 'today')

  it('cover the kinds of the examples', () => {
    expect(names).toEqual([
      'ceph',
      'document-000',
      'every-service',
      'five-clouds-bgp',
      'hci',
      'networkers',
      'shared-vlan',
      'small',
      'sriov-dpdk',
      'two-cells',
      'two-clouds',
    ])
  })

  it.each(names)(
    'is taken by the API server whole and without a warning: %s',
    async (name) => {
      const { applied, problems } = await applyAll(planExample(name), cluster)
      expect(problems).toEqual([])
      expect(applied).toBeGreaterThan(30)
    },
    90_000,
  )

  it.each(['five-clouds-bgp', 'two-clouds'])(
    'can be applied by a second program, such as Argo CD, without a conflict: %s',
    async (name) => {
      const plan = planExample(name)
      await applyAll(plan, cluster)
      const objects = renderDocuments(plan).map(({ object }) => object)
      const { applied, problems } = await judgeObjects(objects, cluster, 'argocd-controller')
      expect(problems).toEqual([])
      expect(applied).toBeGreaterThan(30)
    },
    90_000,
  )

  it('keep the labels that other managers have set on a namespace', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace' }
    const labelled = {
      ...namespace,
      metadata: { name: 'openstack', labels: { 'team.example.com/owner': 'infra' } },
    }
    await cluster.client.apply(labelled, { fieldManager: 'somebody-else' })
    await applyAll(planExample('small'), cluster)
    const live = await cluster.client.get({ ...namespace, name: 'openstack' })
    expect(live?.metadata.labels).toMatchObject({
      'team.example.com/owner': 'infra',
      'pod-security.kubernetes.io/enforce': 'privileged',
    })
  })
})

describe('data about the pinned CRDs', () => {
  it('is what the generator makes of them', async () => {
    const releases = mergeReleases(loadReleases(), await readPinnedReleases())
    expect(readFileSync('data/releases.json', 'utf8')).toBe(formatReleaseData(releases))
  })
})
