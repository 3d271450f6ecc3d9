import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { netConfig } from '../../../test/ipam.ts'
import type { AddressBlock } from '../../api/address-block.ts'
import type { NetConfig, NetConfigSubnet } from '../../api/netconfig.ts'
import { address, formatAddress } from '../../net/address.ts'
import { applyChanges, blockContaining, blockName } from './block.ts'
import { createLedger, groupByBlock, type Ledger } from './ledger.ts'
import { type AddressRequest, type Allocation, type Claim, planAllocation } from './plan-allocation.ts'
import { type Pool, parsePool } from './pool.ts'

/** Writes a decision as the API server would hold it. */
function write(ledger: Ledger, { changes }: Pick<Allocation, 'changes'>): void {
  for (const { id, items } of groupByBlock(changes).values()) ledger.load(applyChanges(id, ledger.block(id), items))
}

const plain: NetConfigSubnet = {
  name: 'subnet1',
  cidr: '172.17.0.0/24',
  vlan: 20,
  gateway: '172.17.0.1',
  allocationRanges: [{ start: '172.17.0.100', end: '172.17.0.102' }],
}

function pool(over: Partial<NetConfigSubnet> = {}, config: NetConfig = netConfig({ networks: [] })): Pool {
  const made = parsePool(config, 'net-1', { ...plain, ...over })
  if (!made) throw new Error('no such subnet')
  return made
}

function claim(name: string, wants: readonly AddressRequest[], over: Partial<Claim> = {}): Claim {
  return {
    uid: `uid-${name}`,
    namespace: 'ns',
    name,
    created: '2026-01-01',
    requests: wants,
    inherits: new Set(),
    ...over,
  }
}

const anybody = () => fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')

const at = (text: string): bigint => address(text).value

/** What everybody got, in words. */
function told({ results }: Allocation): Readonly<Record<string, readonly string[]>> {
  const family = (value: bigint): 4 | 6 => (value > 0xffffffffn ? 6 : 4)
  return Object.fromEntries(
    [...results].map(([owner, all]) => [
      owner,
      all.map((verdict) =>
        verdict.kind === 'granted'
          ? formatAddress({ family: family(verdict.value), value: verdict.value })
          : verdict.kind,
      ),
    ]),
  )
}

describe('Who gets which address', () => {
  it('is the lowest free one of the first range that has any', () => {
    const two = pool({
      allocationRanges: [
        { start: '172.17.0.200', end: '172.17.0.200' },
        { start: '172.17.0.100', end: '172.17.0.110' },
      ],
    })
    const decision = planAllocation(
      ['a', 'b', 'c'].map((name) => claim(name, [{ pool: two }])),
      createLedger(),
    )
    expect(told(decision)).toEqual({
      'ns/a': ['172.17.0.200'],
      'ns/b': ['172.17.0.100'],
      'ns/c': ['172.17.0.101'],
    })
  })

  it('is never the network, the broadcast, the gateway or an excluded address', () => {
    const all = pool({
      cidr: '172.17.0.0/29',
      excludeAddresses: ['172.17.0.2'],
      allocationRanges: [{ start: '172.17.0.0', end: '172.17.0.7' }],
    })
    const claims = 'abcdef'.split('').map((name) => claim(name, [{ pool: all }]))
    expect(Object.values(told(planAllocation(claims, createLedger()))).flat()).toEqual([
      '172.17.0.3',
      '172.17.0.4',
      '172.17.0.5',
      '172.17.0.6',
      'exhausted',
      'exhausted',
    ])
  })

  it('is the oldest claim first, whatever the order of asking', () => {
    const one = pool({ allocationRanges: [{ start: '172.17.0.100', end: '172.17.0.100' }] })
    const young = claim('a', [{ pool: one }], { created: '2026-01-02' })
    const old = claim('z', [{ pool: one }], { created: '2026-01-01' })
    expect(told(planAllocation([young, old], createLedger()))).toMatchObject({
      'ns/z': ['172.17.0.100'],
      'ns/a': ['exhausted'],
    })
  })

  it('is what was asked for by name, in a range or not, and nothing else', () => {
    const fixed = (text: string): AddressRequest => ({
      pool: pool({ excludeAddresses: ['172.17.0.201'] }),
      fixed: at(text),
    })
    const decision = planAllocation(
      [
        claim('a', [fixed('172.17.0.220')]),
        claim('b', [fixed('172.17.0.220')]),
        claim('c', [fixed('172.17.0.201')]),
        claim('d', [fixed('172.17.0.1')]),
      ],
      createLedger(),
    )
    expect(told(decision)).toEqual({
      'ns/a': ['172.17.0.220'],
      'ns/b': ['taken'],
      'ns/c': ['excluded'],
      'ns/d': ['gateway'],
    })
  })

  it('tells who uses an exhausted subnet most', () => {
    const claims = ['a', 'b', 'c', 'd'].map((name) => claim(name, [{ pool: pool() }]))
    const verdict = planAllocation(claims, createLedger()).results.get('ns/d')?.[0]
    expect(verdict).toMatchObject({ kind: 'exhausted', used: 3, most: { namespace: 'ns', count: 3 } })
  })

  it('is what the Reservation says, and the ledger keeps its owner where they disagree', () => {
    const ledger = createLedger()
    write(ledger, planAllocation([claim('a', [{ pool: pool(), reserved: at('172.17.0.101') }])], ledger))
    const decision = planAllocation([claim('b', [{ pool: pool(), reserved: at('172.17.0.101') }])], ledger)
    expect(decision.results.get('ns/b')?.[0]).toMatchObject({
      kind: 'taken',
      by: { name: 'a' },
      how: 'reserved',
    })
    expect(decision.changes).toEqual([])
  })

  it('passes from a Reservation to the IPSet that adopts it, and to nobody else', () => {
    const ledger = createLedger()
    const want = { pool: pool(), reserved: at('172.17.0.101') }
    write(ledger, planAllocation([claim('a', [want], { uid: 'of-the-reservation' })], ledger))
    const heir = { inherits: new Set(['of-the-reservation']) }
    expect(told(planAllocation([claim('a', [want], heir)], ledger))).toEqual({ 'ns/a': ['172.17.0.101'] })
    expect(told(planAllocation([claim('b', [want], heir)], ledger))).toEqual({ 'ns/b': ['taken'] })
  })

  it('is one on one segment, whatever namespace or network asks', () => {
    const here = pool()
    const there: Pool = { ...pool(), network: 'other' }
    const decision = planAllocation(
      [claim('a', [{ pool: here }]), claim('a', [{ pool: there }], { namespace: 'ns2', uid: 'u2' })],
      createLedger(),
    )
    expect(told(decision)).toEqual({ 'ns/a': ['172.17.0.100'], 'ns2/a': ['172.17.0.101'] })
  })

  it('may be the same on two segments', () => {
    const apart = netConfig({ networks: [] }, { 'stackloom.dev/segment': 'rack-2' })
    const decision = planAllocation(
      [claim('a', [{ pool: pool() }]), claim('b', [{ pool: pool({}, apart) }])],
      createLedger(),
    )
    expect(told(decision)).toEqual({ 'ns/a': ['172.17.0.100'], 'ns/b': ['172.17.0.100'] })
  })

  it('gives back the second of two addresses that two controllers gave one owner', () => {
    const ledger = createLedger()
    const wide = pool({
      cidr: '172.17.0.0/16',
      allocationRanges: [{ start: '172.17.0.254', end: '172.17.1.9' }],
    })
    const holder = { uid: 'uid-a', namespace: 'ns', name: 'a', network: 'net-1' }
    for (const text of ['172.17.0.254', '172.17.1.1']) {
      const spot = { segment: wide.segment, family: 4 as const, value: at(text) }
      ledger.load(applyChanges(blockContaining(spot), undefined, [{ spot, holder, owner: 'ns/a' }]))
    }
    const decision = planAllocation([claim('a', [{ pool: wide }])], ledger)
    expect(told(decision)).toEqual({ 'ns/a': ['172.17.0.254'] })
    expect(decision.changes).toMatchObject([{ spot: { value: at('172.17.1.1') }, holder: undefined }])
  })

  it('gives IPv6 addresses, skipping those whose last 16 bits are zero', () => {
    const six = pool({
      cidr: 'fd00::/64',
      gateway: 'fd00::1',
      allocationRanges: [{ start: 'fd00::', end: 'fd00::2' }],
    })
    expect(told(planAllocation([claim('a', [{ pool: six }])], createLedger()))).toEqual({ 'ns/a': ['fd00::2'] })
  })

  it('completes a decision of which only some blocks were written, moving nothing', () => {
    const sizes = fc.record({
      owners: fc.integer({ min: 1, max: 12 }),
      lost: fc.array(fc.boolean(), { maxLength: 6 }),
    })
    fc.assert(
      fc.property(sizes, ({ owners, lost }) => {
        const pools = [20, 30, 40].map((vlan) =>
          pool({
            vlan,
            cidr: '172.17.0.0/16',
            allocationRanges: [{ start: '172.17.0.250', end: '172.17.1.20' }],
          }),
        )
        const claims = Array.from({ length: owners }, (_, n) =>
          claim(
            `o${n}`,
            pools.map((pool) => ({ pool: pool })),
          ),
        )
        const ledger = createLedger()
        const whole = planAllocation(claims, ledger)
        const blocks = [...groupByBlock(whole.changes).values()]
        blocks.forEach(({ id, items }, n) => {
          if (!lost[n]) ledger.load(applyChanges(id, undefined, items))
        })
        const again = planAllocation(claims, ledger)
        expect(told(again)).toEqual(told(whole))
        write(ledger, again)
        expect(planAllocation(claims, ledger).changes).toEqual([])
      }),
    )
  })

  it('agrees with a model that walks every address, whoever comes, goes, or asks by name', () => {
    const octet = fc.integer({ min: 0, max: 31 })
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('come' as const),
        name: anybody(),
        fixed: fc.option(octet),
      }),
      fc.record({ kind: fc.constant('go' as const), name: anybody() }),
    )
    const shape = fc.record({
      ranges: fc.array(fc.tuple(octet, octet), { minLength: 1, maxLength: 3 }),
      excluded: fc.uniqueArray(octet, { maxLength: 4 }),
      gateway: octet,
      steps: fc.array(step, { maxLength: 30 }),
    })
    fc.assert(
      fc.property(shape, ({ ranges, excluded, gateway, steps }) => {
        const text = (n: number): string => `10.0.0.${n}`
        const here = pool({
          cidr: '10.0.0.0/27',
          gateway: text(gateway),
          excludeAddresses: excluded.map(text),
          allocationRanges: ranges.map(([start, end]) => ({ start: text(start), end: text(end) })),
        })
        const never = new Set([0, 31, gateway, ...excluded])
        const model = new Map<string, number>()
        const ledger = createLedger()
        for (const step of steps) {
          const owner = `ns/${step.name}`
          if (step.kind === 'go') {
            model.delete(step.name)
            const changes = ledger.heldBy(owner).map(({ spot }) => ({ spot, holder: undefined, owner }))
            write(ledger, { changes })
            continue
          }
          const taken = new Set(model.values())
          const walk = ranges.flatMap(([first, last]) => {
            const all = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n)
            return all.filter((n) => !never.has(n) && !taken.has(n))
          })
          const usable = (n: number): boolean => n !== gateway && !excluded.includes(n) && !taken.has(n)
          const fixed = step.fixed ?? undefined
          const mine = model.get(step.name)
          const expected = fixed === undefined ? (mine ?? walk[0]) : mine === fixed || usable(fixed) ? fixed : undefined
          const want: AddressRequest = { pool: here, ...(fixed !== undefined && { fixed: at(text(fixed)) }) }
          const decision = planAllocation([claim(step.name, [want])], ledger)
          const verdict = decision.results.get(owner)?.[0]
          expect(verdict?.kind === 'granted' ? verdict.value : undefined).toBe(
            expected === undefined ? undefined : at(text(expected)),
          )
          if (expected !== undefined) model.set(step.name, expected)
          write(ledger, decision)
        }
        const held = new Set([...ledger.all()].map(({ spot }) => spot.value))
        expect(held).toEqual(new Set([...model.values()].map((n) => at(text(n)))))
        expect(held.size).toBe(model.size)
      }),
      { numRuns: 300 },
    )
  })
})

describe('Blocks', () => {
  it('are called alike by everybody, and unlike any other', () => {
    const name = (segment: string, text: string): string => blockName(blockContaining({ segment, ...address(text) }))
    expect(name('vlan-20', '172.17.0.100')).toBe('vlan-20.v4-ac110000')
    expect(name('vlan-20', '172.17.0.255')).toBe(name('vlan-20', '172.17.0.0'))
    expect(name('rack 2/vlan-20', '172.17.0.1')).not.toBe(name('rack-2-vlan-20', '172.17.0.1'))
    expect(name('rack 2/vlan-20', '172.17.0.1')).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
  })

  it('tell who is gone when a newer one is loaded', () => {
    const ledger = createLedger()
    const spot = { segment: 'vlan-20', ...address('10.0.0.5') }
    const holder = { uid: 'u', namespace: 'ns', name: 'a', network: 'net' }
    const block: AddressBlock = applyChanges(blockContaining(spot), undefined, [{ spot, holder, owner: 'ns/a' }])
    expect(ledger.load(block)).toEqual([])
    expect(ledger.load({ ...block, spec: { ...block.spec, holders: {} } })).toMatchObject([{ holder: { uid: 'u' } }])
    expect(ledger.heldBy('ns/a')).toEqual([])
  })
})
