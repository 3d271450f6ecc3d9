import { describe, expect, it } from 'vitest'
import { netConfig, threeNetworks } from '../../../test/ipam.ts'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import { createAllocator } from './allocator.ts'
import { createLedger } from './ledger.ts'
import type { Claim } from './plan-allocation.ts'
import { type Pool, parsePool } from './pool.ts'

const config = netConfig(threeNetworks)
const [network] = threeNetworks.networks
const [subnet] = network?.subnets ?? []
const pool = (network && subnet && parsePool(config, network.name, subnet)) as Pool

const claim = (name: string, changes: Partial<Pool> = {}): Claim => ({
  uid: `uid-${name}`,
  namespace: 'ns',
  name,
  created: '2026-01-01T00:00:00Z',
  requests: [{ pool: { ...pool, ...changes } }],
  inherits: new Set(),
})

describe('The allocator', () => {
  it('tells one who cannot be decided about, and serves the others of the same breath', async () => {
    const { client } = memoryCluster()
    const ledger = createLedger()
    const allocator = createAllocator({ client, ledger, fieldManager: 'test', enqueue: () => {} })
    // A pool that no NetConfig gives: reading its ranges throws.
    const broken = claim('broken', { ranges: undefined as never })
    const [good, bad, also] = await Promise.allSettled([
      allocator.claim(claim('a')),
      allocator.claim(broken),
      allocator.claim(claim('b')),
    ])
    expect(bad.status).toBe('rejected')
    expect([good, also]).toMatchObject([
      { status: 'fulfilled', value: [{ kind: 'granted' }] },
      { status: 'fulfilled', value: [{ kind: 'granted' }] },
    ])
    expect(await allocator.claim(claim('c'))).toMatchObject([{ kind: 'granted' }])
    expect([...ledger.all()]).toHaveLength(3)
  })

  it('asks for the name of a block once per block, however many addresses it looks at', async () => {
    const { client } = memoryCluster()
    const ledger = createLedger()
    let asked = 0
    const counted = {
      ...ledger,
      count: (id: Parameters<typeof ledger.count>[0]) => {
        asked += 1
        return ledger.count(id)
      },
    }
    const allocator = createAllocator({ client, ledger: counted, fieldManager: 'test', enqueue: () => {} })
    await Promise.all(Array.from({ length: 90 }, (_, n) => allocator.claim(claim(`host-${n}`))))
    asked = 0
    await allocator.claim(claim('last'))
    expect(asked).toBe(1)
  })
})
