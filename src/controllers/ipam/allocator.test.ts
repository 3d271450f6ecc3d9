import { describe, expect, it } from 'vitest'
import { netConfig, threeNetworks } from '../../../test/ipam.ts'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import { createAllocator } from './allocator.ts'
import { type Claim, type Pool, parsePool } from './claim.ts'
import { createLedger, type Ledger } from './ledger.ts'

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

describe('createAllocator', () => {
  it('rejects a claim that cannot be planned, and serves the others of the same batch', async () => {
    const { client } = memoryCluster()
    const ledger = createLedger()
    const allocator = createAllocator({ client, ledger, fieldManager: 'test', enqueue: () => {} })
    // No NetConfig has such a pool: reading its ranges throws.
    const broken = claim('broken', { ranges: undefined as never })
    const [first, second, third] = await Promise.allSettled([
      allocator.claim(claim('a')),
      allocator.claim(broken),
      allocator.claim(claim('b')),
    ])
    expect(second.status).toBe('rejected')
    expect([first, third]).toMatchObject([
      { status: 'fulfilled', value: [{ kind: 'granted' }] },
      { status: 'fulfilled', value: [{ kind: 'granted' }] },
    ])
    expect(await allocator.claim(claim('c'))).toMatchObject([{ kind: 'granted' }])
    expect([...ledger.all()]).toHaveLength(3)
  })

  it('looks up a block once and no held address of it, however many it passes', async () => {
    const { client } = memoryCluster()
    const ledger = createLedger()
    let lookUps = 0
    let holders = 0
    const counting: Ledger = {
      ...ledger,
      heldInBlock: (id) => {
        lookUps += 1
        return ledger.heldInBlock(id)
      },
      holder: (address) => {
        holders += 1
        return ledger.holder(address)
      },
    }
    const allocator = createAllocator({ client, ledger: counting, fieldManager: 'test', enqueue: () => {} })
    await Promise.all(Array.from({ length: 90 }, (_, n) => allocator.claim(claim(`host-${n}`))))
    lookUps = holders = 0
    await allocator.claim(claim('last'))
    expect(lookUps).toBe(1)
    // Whether it is free, and whether its entry differs.
    expect(holders).toBe(2)
  })
})
