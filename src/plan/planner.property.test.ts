import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { count } from '../../test/counts.ts'
import { generatedClouds, generatedSite } from '../../test/generated-sites.ts'
import { listCodes, planSpec } from '../../test/site.ts'
import { hasErrors } from '../errors/finding.ts'
import { parseAddress } from '../net/address.ts'
import { diffLocks } from './changes.ts'
import { type Plan, type PlannedNetwork, planJson } from './plan.ts'

const runs = { numRuns: count({ test: 25, soak: 3000 }) }

/** Every owned address by itself: segment and address to owner. No sorting, no sweeping. */
function ownersOf(plan: Plan): { readonly owners: Map<string, string>; readonly clashes: readonly string[] } {
  const owners = new Map<string, string>()
  const clashes: string[] = []
  const claim = (segment: string, value: string, owner: string): void => {
    const key = `${segment} ${value}`
    const other = owners.get(key)
    if (other !== undefined && other !== owner) clashes.push(`${key}: ${other} and ${owner}`)
    owners.set(key, owner)
  }
  for (const cloud of plan.clouds) {
    for (const network of cloud.networks) {
      for (const subnet of network.subnets) {
        const segment = segmentOf(network)
        const reserved = new Set(subnet.reserved.flatMap(({ start, end }) => each(start, end)))
        if (subnet.gateway) claim(segment, each(subnet.gateway, subnet.gateway)[0] ?? '', `gateway ${subnet.gateway}`)
        for (const span of subnet.spans) {
          const owner = span.role === 'nodes' ? `nodes ${span.start}` : `${cloud.name}/${network.name} ${span.role}`
          for (const value of each(span.start, span.end)) if (!reserved.has(value)) claim(segment, value, owner)
        }
      }
    }
  }
  return { owners, clashes }
}

function segmentOf(network: PlannedNetwork): string {
  return network.segment ?? 'none'
}

function each(start: string, end: string): readonly string[] {
  const [first, last] = [parseAddress(start), parseAddress(end)]
  if (!first || !last) throw new Error(`${start}-${end}`)
  const all: string[] = []
  for (let value = first.value; value <= last.value; value += 1n) all.push(`${first.family}:${value}`)
  return all
}

/** Whether a holder has an address outside its span, or in the span of another role. */
function strangers(plan: Plan): readonly string[] {
  return plan.clouds.flatMap((cloud) =>
    cloud.networks.flatMap((network) => {
      const valueOf = (text: string): bigint => parseAddress(text)?.value ?? -1n
      const inside = (address: string, role: string): boolean =>
        network.subnets.some((subnet) =>
          subnet.spans.some(
            ({ role: own, start, end }) =>
              own === role && valueOf(start) <= valueOf(address) && valueOf(address) <= valueOf(end),
          ),
        )
      const wrong: string[] = []
      for (const { slot, address } of network.vips) if (!inside(address, 'vips')) wrong.push(`${slot} ${address}`)
      for (const { name, address } of network.nodes) if (!inside(address, 'nodes')) wrong.push(`${name} ${address}`)
      for (const { name, address } of network.hosts) if (!inside(address, 'hosts')) wrong.push(`${name} ${address}`)
      return wrong
    }),
  )
}

/** Everybody's address on one segment, each once. */
function givenTwice(plan: Plan): readonly string[] {
  const seen = new Map<string, string>()
  const twice: string[] = []
  for (const cloud of plan.clouds) {
    for (const network of cloud.networks) {
      const holders = [
        ...network.nodes.map((node) => [`node ${node.name}`, node.address] as const),
        ...network.hosts.map((host) => [`${cloud.name} host ${host.name}`, host.address] as const),
        ...network.vips.map((vip) => [`${cloud.name} ${vip.shared ? 'shared' : vip.slot}`, vip.address] as const),
      ]
      for (const [holder, address] of holders) {
        const key = `${segmentOf(network)} ${address}`
        const other = seen.get(key)
        if (other !== undefined && other !== holder) twice.push(`${key}: ${other} and ${holder}`)
        seen.set(key, holder)
      }
    }
  }
  return twice
}

const errors = (plan: Plan): readonly string[] =>
  plan.findings.filter((finding) => finding.severity === 'error').map((finding) => `${finding.code} ${finding.message}`)

describe('for any site without pins', { timeout: 240_000 }, () => {
  it('the plan has no errors, no overlaps and no address twice', () => {
    fc.assert(
      fc.property(generatedSite, (words) => {
        const { plan } = planSpec(words)
        expect(errors(plan)).toEqual([])
        expect(ownersOf(plan).clashes).toEqual([])
        expect(strangers(plan)).toEqual([])
        expect(givenTwice(plan)).toEqual([])
        const names = new Set(
          plan.segments.flatMap((segment) => [segment.interface, segment.bridge ?? segment.interface]),
        )
        for (const name of names) expect(name.length).toBeLessThanOrEqual(15)
      }),
      runs,
    )
  })

  it('planning again with its own lock changes nothing, in any order of the clouds', () => {
    fc.assert(
      fc.property(generatedSite, (words) => {
        const first = planSpec(words)
        const again = planSpec(words, { lock: first.lock })
        expect(again.lock).toEqual(first.lock)
        expect(JSON.stringify(again.plan)).toBe(JSON.stringify(first.plan))
        expect(diffLocks(first.lock, again.lock)).toEqual([])
        const turned = planSpec({ ...words, clouds: (words.clouds ?? []).toReversed() }, { lock: first.lock })
        expect(JSON.stringify(turned.lock)).toBe(JSON.stringify(first.lock))
      }),
      runs,
    )
  })

  it('nothing moves when clouds are added or removed, and addresses of removed clouds stay reserved', () => {
    fc.assert(
      fc.property(generatedSite, generatedClouds, (words, others) => {
        const first = planSpec(words)
        const second = planSpec({ ...words, clouds: others }, { lock: first.lock })
        expect(errors(second.plan)).toEqual([])
        expect(diffLocks(first.lock, second.lock).filter((change) => change.moves)).toEqual([])
        const stay = first.plan.clouds.filter(({ name }) => others.some((other) => other.name === name))
        for (const before of stay) {
          const after = second.plan.clouds.find(({ name }) => name === before.name)
          for (const network of before.networks) {
            const same = after?.networks.find(({ name }) => name === network.name)
            if (!same) continue
            expect([same.vlan, same.subnets, same.nodes, same.bridge]).toEqual([
              network.vlan,
              network.subnets,
              network.nodes,
              network.bridge,
            ])
          }
        }
        const gone = first.plan.clouds.filter(({ name }) => !others.some((other) => other.name === name))
        const held = new Set(gone.flatMap(({ networks }) => networks.flatMap(subnetTexts)))
        const given = second.plan.clouds.flatMap(({ networks }) => networks.flatMap(subnetTexts))
        expect(given.filter((text) => held.has(text))).toEqual([])
        // Back again, everybody has what he had.
        const third = planSpec(words, { lock: second.lock })
        expect(planJson(third.plan).clouds).toEqual(planJson(first.plan).clouds)
      }),
      runs,
    )
  })
})

function subnetTexts(network: PlannedNetwork): readonly string[] {
  return network.subnets.map(({ cidr }) => cidr)
}

describe('for any pinned spans', { timeout: 240_000 }, () => {
  const span = fc.tuple(fc.integer({ min: 2, max: 240 }), fc.nat(25)).map(([first, length]) => {
    const last = Math.min(first + length, 254)
    return `172.17.0.${first}-172.17.0.${last}`
  })
  const spans = fc.record({ pods: span, vips: span, hosts: span }, { requiredKeys: [] })

  it('an overlap is reported exactly when counting address by address finds one', () => {
    fc.assert(
      fc.property(spans, spans, fc.boolean(), (first, second, gateway) => {
        const pinned = (spans: typeof first) => ({
          internalapi: {
            vlan: 20,
            subnets: [{ cidr: '172.17.0.0/24', ...(gateway && { gateway: '172.17.0.50' }), spans }],
          },
        })
        const planned = planSpec({
          addressing: { isolation: 'shared-vlan' },
          clouds: [
            { name: 'a', namespace: 'a', networks: pinned(first), services: { keystone: false } },
            { name: 'b', namespace: 'b', networks: pinned(second) },
          ],
        })
        const overlap = ownersOf(planned.plan).clashes.length > 0
        const found = listCodes(planned).filter((code) => ['SL2101', 'SL2106', 'SL2111'].includes(code))
        expect(found.length > 0).toBe(overlap)
        if (overlap) expect(hasErrors(planned.plan.findings)).toBe(true)
      }),
      { numRuns: count({ test: 80, soak: 5000 }) },
    )
  })
})
