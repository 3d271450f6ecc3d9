import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { count } from '../../test/counts.ts'
import { type PartialSiteSpec, planText, siteText } from '../../test/site.ts'
import { diffLocks } from './changes.ts'
import { readLock } from './lock-file.ts'
import { lookUp } from './lookup.ts'
import { drawPlan } from './picture.ts'
import { writeLock } from './written-lock.ts'

const address = fc.constantFrom('172.17.0.5', '172.17.0.80', 'fd00:bbbb::80', '0.0.0.0', '255.255.255.255', '1', '::')
const cidr = fc.constantFrom(
  '172.17.0.0/24',
  '172.17.0.0/32',
  '172.17.0.0/29',
  '172.16.0.0/12',
  'fd00:bbbb::/64',
  'fd00:bbbb::/127',
  '192.168.122.0/26',
)
/** A subnet that holds all others is no plan either. */
const subnetCidr = cidr.filter((text) => !text.endsWith('/0'))
const range = fc.oneof(
  address,
  cidr,
  fc.tuple(address, address).map((ends) => ends.join('-')),
)
const span = fc.oneof(range, fc.array(range, { maxLength: 3 }))
const some = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(fields, { requiredKeys: [] })

const subnet = some({
  gateway: address,
  vlan: fc.constantFrom(0, 20, 21, 4095),
  spans: some({ nodes: span, pods: span, vips: span, hosts: span }),
  reserved: fc.array(span, { maxLength: 2 }),
})
const network = fc.oneof(
  fc.constant(false as const),
  some({
    vlan: fc.constantFrom<20 | 21 | 'untagged' | 5000>(20, 21, 'untagged', 5000),
    nic: fc.constantFrom<'main' | false>('main', false),
    interface: fc.constantFrom('a', 'x'.repeat(20)),
    bridge: fc.constantFrom<boolean | string>(true, false, 'ospbr'),
    attach: fc.constantFrom('macvlan' as const, 'bridge' as const, 'none' as const),
    supernets: fc.array(span, { maxLength: 2 }),
    subnets: fc.array(
      fc.tuple(subnetCidr, subnet).map(([text, rest]) => ({ cidr: text, ...rest })),
      { maxLength: 3 },
    ),
    roles: fc.subarray<'nodes' | 'pods' | 'vips' | 'hosts'>(['nodes', 'pods', 'vips', 'hosts']),
    endpoints: fc.array(fc.record({ name: fc.constantFrom('a', 'b'), address }), { maxLength: 2 }),
    nodes: some({ 'worker-0': address }),
  }),
)
const host = fc
  .tuple(fc.constantFrom('h1', 'h2', 'constructor'), some({ ctlplane: address, storage: address }))
  .map(([name, addresses]) => ({ name, addresses: addresses as Record<string, string> }))
const cloud = fc.record(
  {
    name: fc.constantFrom('a', 'b', 'constructor'),
    namespace: fc.constantFrom('a', 'b'),
    networks: fc.dictionary(fc.constantFrom('ctlplane', 'internalapi', 'storage', 'custom', 'datacentre'), network),
    vips: fc.dictionary(fc.constantFrom('keystone.internal', 'rabbitmq.rabbitmq', 'nobody'), address),
    hosts: fc.array(host, { maxLength: 4 }),
  },
  { requiredKeys: ['name', 'namespace'] },
)
const site = fc.record({
  // Equal clouds are no plan: reading the file ends with them.
  clouds: fc.uniqueArray(cloud, {
    maxLength: 3,
    comparator: (a, b) => a.name === b.name || a.namespace === b.namespace,
  }),
  addressing: some({
    isolation: fc.constantFrom('vlan-per-cloud' as const, 'shared-vlan' as const),
    families: fc.constantFrom<(4 | 6)[]>([4], [6], [4, 6]),
    vlans: fc.constantFrom({ first: 20, last: 22 }, { first: 20, last: 4094 }),
    layout: some({ nodes: fc.constantFrom('5-20', '0-255'), hosts: fc.constantFrom('100-400', '200') }),
  }),
}) as fc.Arbitrary<PartialSiteSpec>

describe('for any site, however unusual', { timeout: 240_000 }, () => {
  it('there is a plan, an address map and a lock, and every error has a location', () => {
    fc.assert(
      fc.property(site, site, (before, after) => {
        const first = planText(siteText(before))
        const second = planText(siteText(after), { lock: first.lock })
        for (const { plan } of [first, second]) {
          expect(drawPlan(plan)).toContain('</svg>')
          lookUp(plan, '172.17.0.80')
          for (const finding of plan.findings) {
            // A lock is no place in the site file.
            if (finding.severity !== 'error' || finding.code.startsWith('SL24')) continue
            expect(finding.where, `${finding.code} ${finding.message}`).toBeDefined()
          }
        }
        expect(readLock(writeLock(second.lock), 'site.lock.yaml').lock).toEqual(second.lock)
        if (second.plan.findings.some((finding) => finding.severity === 'error')) return
        expect(diffLocks(second.lock, planText(siteText(after), { lock: second.lock }).lock)).toEqual([])
      }),
      { numRuns: count({ test: 40, soak: 2000 }) },
    )
  })
})
