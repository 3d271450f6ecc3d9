import { describe, expect, it } from 'vitest'
import { useCluster } from '../../cluster.ts'
import { planExample } from '../../examples.ts'
import { applyAll, judgeObjects } from './accepted.ts'
import { matrixSites, renderForRelease } from './release-matrix.ts'

describe('documents for the 2023 API', () => {
  const cluster = useCluster({ crds: '2023' })

  it.each(['networking-2023', 'small'])('are accepted by an API server with the CRDs of 2023: %s', async (name) => {
    const { applied, problems } = await applyAll(planExample(name, '2023'), cluster)
    expect(problems).toEqual([])
    expect(applied).toBeGreaterThan(20)
  })

  it.each(['examples', 'samples', 'generated'] as const)(
    'have only fields that its CRDs have: %s',
    async (group) => {
      const sites = matrixSites(group, '2023').map((site) => renderForRelease(site, '2023'))
      const accepted = sites.filter(({ objects }) => objects.length > 0)
      const errors = sites.flatMap((site) => site.errors)
      expect(errors).toEqual(group === 'examples' ? ['every-service: SL3002', 'every-service: SL3003'] : [])
      expect(accepted.length).toBeGreaterThanOrEqual(3)
      const { problems } = await judgeObjects(
        accepted.flatMap(({ objects }) => objects),
        cluster,
      )
      expect(problems).toEqual([])
    },
    600_000,
  )
})
