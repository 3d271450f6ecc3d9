import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { netConfig } from '../../../test/ipam.ts'
import type { AddressBlock } from '../../api/address-block.ts'
import type { NetConfig, NetConfigSubnet } from '../../api/netconfig.ts'
import { address, formatAddress } from '../../net/address.ts'
import { type AddressRequest, type Claim, type Pool, parsePool } from './claim.ts'
import { applyChanges, blockContaining, blockName, createLedger, groupByBlock, type Ledger } from './ledger.ts'
import { type Allocation, planAllocation } from './plan-allocation.ts'

/** Loads a plan as the API server would store it. */
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

function claim(name: string, requests: readonly AddressRequest[], over: Partial<Claim> = {}): Claim {
  return {
    uid: `uid-${name}`,
    namespace: 'ns',
    name,
    created: '2026-01-01',
    requests,
    inherits: new Set(),
    ...over,
  }
}

const anyName = () => fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')

const valueOf = (text: string): bigint => address(text).value

/** The results by owner: an address, or why there is none. */
function formatResults({ results }: Allocation): Readonly<Record<string, readonly string[]>> {
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

describe('planAllocation', () => {
  it('grants the lowest free address of the first range that has one', () => {
    const two = pool({
      allocationRanges: [
        { start: '172.17.0.200', end: '172.17.0.200' },
        { start: '172.17.0.100', end: '172.17.0.110' },
      ],
    })
    const plan = planAllocation(
      ['a', 'b', 'c'].map((name) => claim(name, [{ pool: two }])),
      createLedger(),
    )
    expect(formatResults(plan)).toEqual({
      'ns/a': ['172.17.0.200'],
      'ns/b': ['172.17.0.100'],
      'ns/c': ['172.17.0.101'],
    })
  })

  it('never grants the network, broadcast, gateway or an excluded address', () => {
    const all = pool({
      cidr: '172.17.0.0/29',
      excludeAddresses: ['172.17.0.2'],
      allocationRanges: [{ start: '172.17.0.0', end: '172.17.0.7' }],
    })
    const claims = 'abcdef'.split('').map((name) => claim(name, [{ pool: all }]))
    expect(Object.values(formatResults(planAllocation(claims, createLedger()))).flat()).toEqual([
      '172.17.0.3',
      '172.17.0.4',
      '172.17.0.5',
      '172.17.0.6',
      'exhausted',
      'exhausted',
    ])
  })

  it('serves the oldest claim first, whatever the order of the claims', () => {
    const single = pool({ allocationRanges: [{ start: '172.17.0.100', end: '172.17.0.100' }] })
    const young = claim('a', [{ pool: single }], { created: '2026-01-02' })
    const old = claim('z', [{ pool: single }], { created: '2026-01-01' })
    expect(formatResults(planAllocation([young, old], createLedger()))).toMatchObject({
      'ns/z': ['172.17.0.100'],
      'ns/a': ['exhausted'],
    })
  })

  it('grants a fixed address inside or outside the ranges, and no other address instead', () => {
    const fixed = (text: string): AddressRequest => ({
      pool: pool({ excludeAddresses: ['172.17.0.201'] }),
      fixed: valueOf(text),
    })
    const plan = planAllocation(
      [
        claim('a', [fixed('172.17.0.220')]),
        claim('b', [fixed('172.17.0.220')]),
        claim('c', [fixed('172.17.0.201')]),
        claim('d', [fixed('172.17.0.1')]),
      ],
      createLedger(),
    )
    expect(formatResults(plan)).toEqual({
      'ns/a': ['172.17.0.220'],
      'ns/b': ['taken'],
      'ns/c': ['excluded'],
      'ns/d': ['gateway'],
    })
  })

  it('names the namespace that uses most of an exhausted subnet', () => {
    const claims = ['a', 'b', 'c', 'd'].map((name) => claim(name, [{ pool: pool() }]))
    const verdict = planAllocation(claims, createLedger()).results.get('ns/d')?.[0]
    expect(verdict).toMatchObject({ kind: 'exhausted', used: 3, most: { namespace: 'ns', count: 3 } })
  })

  it('grants the address of the Reservation, unless the ledger has another holder', () => {
    const ledger = createLedger()
    write(ledger, planAllocation([claim('a', [{ pool: pool(), reserved: valueOf('172.17.0.101') }])], ledger))
    const plan = planAllocation([claim('b', [{ pool: pool(), reserved: valueOf('172.17.0.101') }])], ledger)
    expect(plan.results.get('ns/b')?.[0]).toMatchObject({
      kind: 'taken',
      holder: { name: 'a' },
      source: 'reserved',
    })
    expect(plan.changes).toEqual([])
  })

  it('passes an address from a Reservation to the IPSet that adopts it, and to no other', () => {
    const ledger = createLedger()
    const request = { pool: pool(), reserved: valueOf('172.17.0.101') }
    write(ledger, planAllocation([claim('a', [request], { uid: 'reservation-uid' })], ledger))
    const adopting = { inherits: new Set(['reservation-uid']) }
    expect(formatResults(planAllocation([claim('a', [request], adopting)], ledger))).toEqual({
      'ns/a': ['172.17.0.101'],
    })
    expect(formatResults(planAllocation([claim('b', [request], adopting)], ledger))).toEqual({ 'ns/b': ['taken'] })
  })

  it('grants an address of a segment once, whatever namespace or network claims it', () => {
    const here = pool()
    const there: Pool = { ...pool(), network: 'other' }
    const plan = planAllocation(
      [claim('a', [{ pool: here }]), claim('a', [{ pool: there }], { namespace: 'ns2', uid: 'u2' })],
      createLedger(),
    )
    expect(formatResults(plan)).toEqual({ 'ns/a': ['172.17.0.100'], 'ns2/a': ['172.17.0.101'] })
  })

  describe('where another namespace holds addresses of the subnet', () => {
    const none = { sharing: { mayShare: () => false, owners: () => [] } }
    const guest = { namespace: 'ns2', created: '2026-01-02', ...none }
    const first = planAllocation([claim('a', [{ pool: pool() }], none)], createLedger())
    const plan = (name: string, request: Partial<AddressRequest>, over: Partial<Claim> = guest) => {
      const ledger = createLedger()
      for (const { id, items } of groupByBlock(first.changes).values()) ledger.load(applyChanges(id, undefined, items))
      return formatResults(planAllocation([claim(name, [{ pool: pool(), ...request }], over)], ledger))
    }

    it('grants none, whether chosen, fixed or reserved', () => {
      expect(plan('b', {})).toEqual({ 'ns2/b': ['foreign'] })
      expect(plan('b', { fixed: valueOf('172.17.0.150') })).toEqual({ 'ns2/b': ['foreign'] })
      expect(plan('b', { reserved: valueOf('172.17.0.150') })).toEqual({ 'ns2/b': ['foreign'] })
      expect(plan('b', { pool: pool({ cidr: '172.16.0.0/12' }) })).toEqual({ 'ns2/b': ['foreign'] })
    })

    it('grants some where that namespace shares, in another subnet, and to its own IPSets', () => {
      const mayShare = (owner: string, namespace: string): boolean => owner === 'ns' && namespace === 'ns2'
      const sharing = { ...none.sharing, mayShare }
      expect(plan('b', {}, { ...guest, sharing })).toEqual({ 'ns2/b': ['172.17.0.101'] })
      const ranges = [{ start: '172.17.1.5', end: '172.17.1.9' }]
      const beside = pool({ cidr: '172.17.1.0/24', gateway: '172.17.1.1', allocationRanges: ranges })
      expect(plan('b', { pool: beside })).toEqual({ 'ns2/b': ['172.17.1.5'] })
      expect(plan('b', {}, none)).toEqual({ 'ns/b': ['172.17.0.101'] })
    })

    it('grants none to the second of two namespaces in one plan', () => {
      const claims = [claim('a', [{ pool: pool() }], none), claim('b', [{ pool: pool() }], guest)]
      expect(formatResults(planAllocation(claims, createLedger()))).toEqual({
        'ns/a': ['172.17.0.100'],
        'ns2/b': ['foreign'],
      })
    })
  })

  describe('on a segment that the administrator gave to namespaces', () => {
    const mayShare = (owner: string, namespace: string): boolean => owner === 'ns' && namespace === 'guest'
    const owners = (segment: string): readonly string[] => (segment === 'vlan-20' ? ['ns', 'ns2'] : [])
    const sharing = { mayShare, owners }
    const grant = (namespace: string, request: Partial<AddressRequest> = {}) =>
      formatResults(
        planAllocation([claim('a', [{ pool: pool(), ...request }], { namespace, sharing })], createLedger()),
      )

    it('grants none to others, also where no address is held yet', () => {
      expect(grant('other')).toEqual({ 'other/a': ['foreign'] })
      expect(grant('other', { fixed: valueOf('172.17.0.150') })).toEqual({ 'other/a': ['foreign'] })
      expect(grant('other', { reserved: valueOf('172.17.0.150') })).toEqual({ 'other/a': ['foreign'] })
    })

    it('grants some to each of them, and to namespaces with which one of them shares', () => {
      expect(grant('ns')).toEqual({ 'ns/a': ['172.17.0.100'] })
      expect(grant('ns2')).toEqual({ 'ns2/a': ['172.17.0.100'] })
      expect(grant('guest')).toEqual({ 'guest/a': ['172.17.0.100'] })
    })

    it('grants some to them where another namespace took addresses before the list', () => {
      const ledger = createLedger()
      write(ledger, planAllocation([claim('x', [{ pool: pool() }], { namespace: 'other' })], ledger))
      const plan = planAllocation([claim('a', [{ pool: pool() }], { sharing })], ledger)
      expect(formatResults(plan)).toEqual({ 'ns/a': ['172.17.0.101'] })
    })
  })

  it('grants the same address on two segments', () => {
    const apart = netConfig({ networks: [] }, { 'stackloom.dev/segment': 'rack-2' })
    const plan = planAllocation(
      [claim('a', [{ pool: pool() }]), claim('b', [{ pool: pool({}, apart) }])],
      createLedger(),
    )
    expect(formatResults(plan)).toEqual({ 'ns/a': ['172.17.0.100'], 'ns/b': ['172.17.0.100'] })
  })

  it('releases the second of two addresses that two controllers granted to one owner', () => {
    const ledger = createLedger()
    const wide = pool({
      cidr: '172.17.0.0/16',
      allocationRanges: [{ start: '172.17.0.254', end: '172.17.1.9' }],
    })
    const holder = { uid: 'uid-a', namespace: 'ns', name: 'a', network: 'net-1' }
    for (const text of ['172.17.0.254', '172.17.1.1']) {
      const target = { segment: wide.segment, family: 4 as const, value: valueOf(text) }
      ledger.load(applyChanges(blockContaining(target), undefined, [{ address: target, holder, owner: 'ns/a' }]))
    }
    const plan = planAllocation([claim('a', [{ pool: wide }])], ledger)
    expect(formatResults(plan)).toEqual({ 'ns/a': ['172.17.0.254'] })
    expect(plan.changes).toMatchObject([{ address: { value: valueOf('172.17.1.1') }, holder: undefined }])
  })

  it('grants IPv6 addresses, skipping those whose last 16 bits are zero', () => {
    const six = pool({
      cidr: 'fd00::/64',
      gateway: 'fd00::1',
      allocationRanges: [{ start: 'fd00::', end: 'fd00::2' }],
    })
    expect(formatResults(planAllocation([claim('a', [{ pool: six }])], createLedger()))).toEqual({
      'ns/a': ['fd00::2'],
    })
  })

  it('completes a plan of which only some blocks were written, without moving an address (property)', () => {
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
        expect(formatResults(again)).toEqual(formatResults(whole))
        write(ledger, again)
        expect(planAllocation(claims, ledger).changes).toEqual([])
      }),
    )
  })

  it('agrees with a model that enumerates every address (property)', () => {
    const octet = fc.integer({ min: 0, max: 31 })
    const anyStep = fc.oneof(
      fc.record({
        kind: fc.constant('claim' as const),
        name: anyName(),
        fixed: fc.option(octet),
      }),
      fc.record({ kind: fc.constant('release' as const), name: anyName() }),
    )
    const shape = fc.record({
      ranges: fc.array(fc.tuple(octet, octet), { minLength: 1, maxLength: 3 }),
      excluded: fc.uniqueArray(octet, { maxLength: 4 }),
      gateway: octet,
      steps: fc.array(anyStep, { maxLength: 30 }),
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
          if (step.kind === 'release') {
            model.delete(step.name)
            const changes = ledger.heldBy(owner).map(({ address }) => ({ address, holder: undefined, owner }))
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
          const request: AddressRequest = { pool: here, ...(fixed !== undefined && { fixed: valueOf(text(fixed)) }) }
          const plan = planAllocation([claim(step.name, [request])], ledger)
          const verdict = plan.results.get(owner)?.[0]
          expect(verdict?.kind === 'granted' ? verdict.value : undefined).toBe(
            expected === undefined ? undefined : valueOf(text(expected)),
          )
          if (expected !== undefined) model.set(step.name, expected)
          write(ledger, plan)
        }
        const held = new Set([...ledger.all()].map(({ address }) => address.value))
        expect(held).toEqual(new Set([...model.values()].map((n) => valueOf(text(n)))))
        expect(held.size).toBe(model.size)
      }),
      { numRuns: 300 },
    )
  })
})

describe('AddressBlocks', () => {
  it('have a name that depends on segment and address alone and is a DNS name', () => {
    const name = (segment: string, text: string): string => blockName(blockContaining({ segment, ...address(text) }))
    expect(name('vlan-20', '172.17.0.100')).toBe('vlan-20.v4-ac110000')
    expect(name('vlan-20', '172.17.0.255')).toBe(name('vlan-20', '172.17.0.0'))
    expect(name('rack 2/vlan-20', '172.17.0.1')).not.toBe(name('rack-2-vlan-20', '172.17.0.1'))
    expect(name('rack 2/vlan-20', '172.17.0.1')).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
  })

  it('report removed holders when a newer version is loaded', () => {
    const ledger = createLedger()
    const target = { segment: 'vlan-20', ...address('10.0.0.5') }
    const holder = { uid: 'u', namespace: 'ns', name: 'a', network: 'net' }
    const block: AddressBlock = applyChanges(blockContaining(target), undefined, [
      { address: target, holder, owner: 'ns/a' },
    ])
    expect(ledger.load(block)).toEqual([])
    expect(ledger.load({ ...block, spec: { ...block.spec, holders: {} } })).toMatchObject([{ holder: { uid: 'u' } }])
    expect(ledger.heldBy('ns/a')).toEqual([])
  })
})
