import { describe, expect, it } from 'vitest'
import type { FleetSite } from '../api/fleet.ts'
import { finding } from '../errors/finding.ts'
import { serverUnreachable } from '../kube/findings/connection.ts'
import type { PlanJson } from '../plan/plan.ts'
import { readFleet } from './read-fleet.ts'
import { canaryNames, planRollout, remainingPause } from './rollout.ts'
import { findSharedSubnets } from './shared-routers.ts'
import { fleetExitCode, type SiteOutcome, siteVerdict, worstFirst } from './site-outcome.ts'

const header = 'apiVersion: stackloom.dev/v1alpha1\nkind: Fleet\nmetadata: {name: europe}\n'
const codes = (findings: readonly { readonly code: string }[]): readonly string[] => findings.map(({ code }) => code)

describe('a fleet file', () => {
  it('resolves paths from its own folder', () => {
    const { fleet, findings } = readFleet(
      `${header}spec: {sites: [{name: a, file: a/site.yaml, kubeconfig: /etc/a}, {name: b, file: b.yaml, context: b}]}`,
      'fleets/europe.yaml',
    )
    expect(findings).toEqual([])
    expect(fleet?.sites.map(({ file }) => file)).toEqual(['fleets/a/site.yaml', 'fleets/b.yaml'])
    expect(fleet?.sites[0]?.kubeconfig).toBe('/etc/a')
    expect(fleet?.pause).toBe('0s')
  })

  it.each([
    [
      'two sites of one name',
      'spec: {sites: [{name: a, file: a, context: a}, {name: a, file: b, context: b}]}',
      'SL4160',
    ],
    ['two sites of one context', 'spec: {sites: [{name: a, file: a}, {name: b, file: b}]}', 'SL4161'],
    ['a misspelt field', 'spec: {sites: [{name: a, file: a, contxt: a}]}', 'SL1020'],
    ['no sites', 'spec: {sites: []}', 'SL1023'],
    ['a pause that is no duration', 'spec: {sites: [{name: a, file: a}], update: {pause: soon}}', 'SL1023'],
  ])('reports %s at its place', (_, text, code) => {
    const { findings } = readFleet(header + text, 'fleet.yaml')
    expect(codes(findings)).toEqual([code])
    expect(findings[0]?.where).toMatchObject({ file: 'fleet.yaml', line: 4 })
  })
})

const plan = (cidr: string, gateway?: string) =>
  ({
    clouds: [
      {
        name: 'rhoso1',
        namespace: 'openstack',
        networks: [{ name: 'ctlplane', subnets: [{ cidr, ...(gateway && { gateway }) }] }],
      },
    ],
  }) as unknown as PlanJson

describe('subnets of sites', () => {
  const site = (name: string, routers: readonly string[], cidr: string, gateway?: string) => {
    return { site: name, routers, plan: plan(cidr, gateway) }
  }

  it('may be equal without a common router', () => {
    const sites = [site('a', ['r1'], '10.0.0.0/24', '10.0.0.1'), site('b', ['r2'], '10.0.0.0/24', '10.0.0.1')]
    expect(findSharedSubnets([...sites, site('c', [], '10.0.0.0/24', '10.0.0.1')])).toEqual([])
  })

  it('are an error where both are routed, and a warning where one is not', () => {
    const routed = site('a', ['r1', 'r2'], '10.0.0.0/23', '10.0.0.1')
    const [first] = findSharedSubnets([routed, site('b', ['r2'], '10.0.1.0/24', '10.0.1.1')])
    expect(first).toMatchObject({ code: 'SL4162', severity: 'error' })
    expect(first?.message).toContain('10.0.1.0-10.0.1.255')
    expect(first?.message).toContain('r2')
    expect(codes(findSharedSubnets([routed, site('b', ['r2'], '10.0.1.0/24')]))).toEqual(['SL4163'])
  })

  it('are routed without a gateway where BGP announces their VIPs', () => {
    const announced = (name: string) => {
      const { clouds } = plan('10.0.0.0/24')
      const networks = clouds[0]?.networks.map((network) => ({ ...network, pool: 'openstack-ctlplane' })) ?? []
      return {
        site: name,
        routers: ['r1'],
        plan: { clouds: [{ name: 'rhoso1', namespace: 'openstack', networks }], bgp: { asn: 64512, peers: [] } },
      }
    }
    expect(codes(findSharedSubnets([announced('a'), announced('b')]))).toEqual(['SL4162'])
  })
})

describe('the outcome of a fleet', () => {
  const outcome = (
    site: string,
    exitCode: SiteOutcome['exitCode'],
    findings: SiteOutcome['result']['findings'] = [],
  ) => {
    return { site, exitCode, result: { findings } }
  }
  const cutOff = [finding(serverUnreachable, { server: 'https://127.0.0.1:1', reason: 'refused' })]

  it('is that of the worst site, which comes first', () => {
    const all = [outcome('fine', 0), outcome('partial', 3), outcome('cut off', 2, cutOff), outcome('failed', 1)]
    expect(worstFirst(all).map(({ site }) => site)).toEqual(['failed', 'cut off', 'partial', 'fine'])
    expect(fleetExitCode(all)).toBe(1)
    expect(fleetExitCode(all.slice(0, 3))).toBe(3)
    expect(fleetExitCode(all.slice(0, 1))).toBe(0)
  })

  it('tells a site that cannot be reached from one with a broken file', () => {
    expect(siteVerdict(outcome('a', 2, cutOff))).toBe('unreachable')
    expect(siteVerdict(outcome('a', 2))).toBe('invalid')
    expect(fleetExitCode([outcome('a', 2), outcome('b', 0)])).toBe(2)
  })
})

describe('the order of updates', () => {
  const sites: readonly FleetSite[] = [
    { name: 'a', file: 'a' },
    { name: 'b', file: 'b', canary: true },
  ]
  const open = { deployed: '1', target: '1', wanted: '2' }

  it('begins with the canaries, or else with the first site', () => {
    const versions = sites.map((site) => ({ site, clouds: [{ cloud: 'x', ...open }] }))
    expect(planRollout(versions, canaryNames(sites)).map(({ site }) => site.name)).toEqual(['b', 'a'])
    expect([...canaryNames(sites.slice(0, 1))]).toEqual(['a'])
  })

  it('tells clouds that are updated or under way from those that are not', () => {
    const clouds = [
      { cloud: 'x', ...open },
      { cloud: 'y', ...open, target: '2' },
      { cloud: 'z', ...open, target: '2', deployed: '2' },
    ]
    const steps = planRollout([{ site: { name: 'a', file: 'a' }, clouds }], new Set())
    expect(steps.map(({ state }) => state)).toEqual(['open', 'under-way', 'updated'])
  })

  it('waits for the rest of the pause after the last canary, also after a restart', () => {
    const now = Date.parse('2026-01-01T12:00:00Z')
    const hour = 3_600_000
    expect(remainingPause(['2026-01-01T10:00:00Z', '2026-01-01T11:30:00Z'], hour, now)).toBe(hour / 2)
    expect(remainingPause(['2026-01-01T10:00:00Z'], hour, now)).toBe(0)
    expect(remainingPause([undefined], hour, now)).toBe(hour)
    expect(remainingPause(['2026-01-01T13:00:00Z'], hour, now)).toBe(hour)
    expect(remainingPause([], hour, now)).toBe(0)
  })
})
