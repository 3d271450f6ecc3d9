import { describe, expect, it } from 'vitest'
import { useCluster } from '../../cluster.ts'
import { planExample } from '../../examples.ts'
import { applyAll } from './accepted.ts'

describe('documents for the 2023 API', () => {
  const cluster = useCluster({ crds: '2023' })

  it.each(['networking-2023', 'small'])('are accepted by an API server with the CRDs of 2023: %s', async (name) => {
    const { applied, problems } = await applyAll(planExample(name, '2023'), cluster)
    expect(problems).toEqual([])
    expect(applied).toBeGreaterThan(20)
  })
})
