/** Sites without pins, generated: clouds, hosts, services, families, isolation and subnet sizes. */
import fc from 'fast-check'
import type { PartialSiteSpec } from './site.ts'

const families = fc.constantFrom([4], [6], [4, 6], [6, 4]) as fc.Arbitrary<(4 | 6)[]>
const cloudNames = ['rhoso1', 'rhoso2', 'rhoso3', 'edge', 'blue', 'green'] as const
const hostsOf = (cloud: string, total: number) =>
  Array.from({ length: total }, (_, index) => ({ name: `${cloud}-compute-${index}` }))

export const generatedClouds = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...cloudNames), fc.nat(6), fc.boolean()), {
    selector: ([name]) => name,
    minLength: 1,
  })
  .map((all) =>
    all.map(([name, total, withoutDesignate]) => ({
      name,
      namespace: `openstack-${name}`,
      hosts: hostsOf(name, total),
      ...(withoutDesignate && { networks: { designate: false as const } }),
    })),
  )

export const generatedSite: fc.Arbitrary<PartialSiteSpec> = fc
  .record({
    clouds: generatedClouds,
    families,
    isolation: fc.constantFrom('vlan-per-cloud' as const, 'shared-vlan' as const),
    prefix: fc.constantFrom(23, 24, 25, 26),
    nodes: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ clouds, families: both, isolation, prefix, nodes }) => ({
    cluster: {
      nodes: Array.from({ length: nodes }, (_, index) => ({ name: `worker-${index}`, nic: 'enp6s0' })),
    },
    addressing: { families: both, isolation, prefixLength: { ipv4: prefix } },
    clouds,
  }))

/** The same with services in each cloud, some of the given ones: what a release decides is mostly in their templates. */
export function generatedSiteWith(services: readonly string[]): fc.Arbitrary<PartialSiteSpec> {
  return fc.tuple(generatedSite, fc.infiniteStream(fc.subarray([...services]))).map(([site, enabled]) => ({
    ...site,
    clouds: (site.clouds ?? []).map((cloud) => {
      const names: readonly string[] = enabled.next().value ?? []
      return { ...cloud, services: Object.fromEntries(names.map((name) => [name, { enabled: true }])) }
    }),
  }))
}
