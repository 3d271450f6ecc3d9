import { describe, expect, it } from 'vitest'
import { netConfig, threeNetworks } from '../../../test/ipam.ts'
import { manualClock } from '../../../test/manual-clock.ts'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import { type Allocator, createAllocator } from './allocator.ts'
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

const claimMany = (allocator: Allocator, prefix: string, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, n) => allocator.claim(claim(`${prefix}-${n}`))))

describe('createAllocator', () => {
  it('rejects a claim that cannot be planned, and serves the others of the same batch', async () => {
    const { client } = memoryCluster()
    const ledger = createLedger()
    const clock = manualClock()
    const allocator = createAllocator({ client, ledger, clock, fieldManager: 'test', enqueue: () => {} })
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
    const clock = manualClock()
    const allocator = createAllocator({ client, ledger: counting, clock, fieldManager: 'test', enqueue: () => {} })
    await claimMany(allocator, 'host', 90)
    lookUps = holders = 0
    await allocator.claim(claim('last'))
    expect(lookUps).toBe(1)
    // Whether it is free, and whether its entry differs.
    expect(holders).toBe(2)
  })
  it('gives the next turn at once after a single claim, and later after many that were written', async () => {
    const { client } = memoryCluster()
    const clock = manualClock()
    const allocator = createAllocator({
      client,
      ledger: createLedger(),
      clock,
      fieldManager: 'test',
      enqueue: () => {},
    })
    let turns = 0
    const takeTurn = (): Promise<void> => allocator.turn().then(() => void (turns += 1))
    await takeTurn()
    await allocator.claim(claim('single'))
    clock.advance(10)
    await takeTurn()
    await claimMany(allocator, 'host', 20)
    const waiting = [takeTurn(), takeTurn()]
    await clock.settle(199)
    expect(turns).toBe(2)
    await clock.settle(1)
    await Promise.all(waiting)
    // Served already, so nothing is written and no turn is delayed.
    await claimMany(allocator, 'host', 20)
    await takeTurn()
    expect(turns).toBe(5)
  })

  it('puts all that waited for a turn into one batch', async () => {
    const { client } = memoryCluster()
    let writes = 0
    const counting = {
      ...client,
      update: (...args: Parameters<typeof client.update>) => ((writes += 1), client.update(...args)),
    }
    const clock = manualClock()
    const ledger = createLedger()
    const allocator = createAllocator({ client: counting, ledger, clock, fieldManager: 'test', enqueue: () => {} })
    const serve = async (name: string): Promise<void> => {
      await allocator.turn()
      await allocator.claim(claim(name))
    }
    await claimMany(allocator, 'host', 20)
    const early = serve('early')
    await clock.settle(100)
    const late = serve('late')
    await clock.settle(100)
    await Promise.all([early, late])
    expect([...ledger.all()]).toHaveLength(22)
    expect(writes).toBe(1)
  })
})
