import { describe, expect, it } from 'vitest'
import { planText, siteText } from '../../test/site.ts'
import type { SiteFileNetwork } from '../api/site.ts'
import { renderNetConfig } from './netconfig.ts'
import { renderCloudPolicies } from './nmstate.ts'

const external = (cidr: string, hosts: string, rest: SiteFileNetwork = {}): SiteFileNetwork => ({
  nic: false,
  attach: 'none',
  roles: ['hosts'],
  subnets: [{ cidr, spans: { hosts } }],
  ...rest,
})

describe('a network that only data plane hosts are on', () => {
  it('has no segment and no interface on the nodes, and no VLAN in NetConfig', () => {
    const networks = { external: external('10.0.0.0/24', '10.0.0.100-10.0.0.250') }
    const { plan } = planText(siteText({ clouds: [{ name: 'a', namespace: 'a', networks }] }))
    expect(plan.findings.filter(({ severity }) => severity === 'error')).toEqual([])
    const [cloud] = plan.clouds
    expect(cloud?.networks.find(({ name }) => name === 'external')).toMatchObject({ interface: '' })
    expect(plan.segments.flatMap((segment) => segment.networks)).not.toContain('a/external')
    if (!cloud) throw new Error('no cloud')
    expect(JSON.stringify(renderCloudPolicies(plan, cloud))).not.toContain('external')
    const netConfig = renderNetConfig(plan, cloud)[0] as unknown as { spec: { networks: { name: string }[] } }
    expect(netConfig.spec.networks.find(({ name }) => name === 'external')).toEqual({
      name: 'external',
      dnsDomain: 'external.a.example.com',
      mtu: 1500,
      subnets: [
        {
          name: 'subnet1',
          cidr: '10.0.0.0/24',
          allocationRanges: [{ start: '10.0.0.100', end: '10.0.0.250' }],
        },
      ],
    })
  })

  it('may be the same in two clouds, because no machine is on both', () => {
    const networks = { external: external('10.0.0.0/24', '10.0.0.100-10.0.0.250') }
    const clouds = ['a', 'b'].map((name) => ({ name, namespace: name, networks }))
    expect(planText(siteText({ clouds })).plan.findings.filter(({ severity }) => severity === 'error')).toEqual([])
  })

  it('may use free addresses of another subnet, but not addresses that another allocator gives out', () => {
    const codes = (hosts: string): readonly string[] => {
      const ctlplane = { subnets: [{ cidr: '192.168.122.0/24' }] }
      const networks = { ctlplane, external: external('192.168.122.0/24', hosts) }
      const { findings } = planText(siteText({ clouds: [{ name: 'a', namespace: 'a', networks }] })).plan
      return findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)
    }
    expect(codes('192.168.122.251-192.168.122.254')).toEqual([])
    expect(codes('192.168.122.200-192.168.122.254')).toEqual(['SL2101'])
  })
})
