import { describe, expect, it } from 'vitest'
import { listCodes, planSpec } from '../../test/site.ts'
import type { SiteFileCloud } from '../api/site.ts'

const hosts = [{ name: 'compute-0' }, { name: 'compute-1' }, { name: 'networker-0' }]

function plan(cloud: Partial<SiteFileCloud>, lock?: ReturnType<typeof planSpec>['lock']) {
  return planSpec({ clouds: [{ name: 'rhoso1', namespace: 'openstack', ...cloud }] }, lock ? { lock } : {})
}

const addresses = ({ plan: { clouds } }: ReturnType<typeof planSpec>) =>
  clouds.flatMap((cloud) => cloud.networks.map((network) => [network.name, network.hosts]))

describe('node sets of a plan', () => {
  it('move no address when hosts are divided among them', () => {
    const before = plan({ hosts })
    const nodeSets = [{ name: 'compute' }, { name: 'networker', role: 'networker' as const }]
    const divided = hosts.map((host) => ({ ...host, nodeSet: host.name.replace(/-\d$/, '') }))
    const after = plan({ hosts: divided, nodeSets }, before.lock)
    expect(listCodes(after)).toEqual([])
    expect(addresses(after)).toEqual(addresses(before))
    expect(after.lock).toEqual(before.lock)
  })

  it('decide the networks of their hosts, unless a host has its own', () => {
    const { plan: planned } = plan({
      nodeSets: [{ name: 'networker', networks: ['ctlplane', 'tenant'] }],
      hosts: [
        { name: 'a', nodeSet: 'networker' },
        { name: 'b', nodeSet: 'networker', networks: ['ctlplane'] },
      ],
    })
    const onNetwork = Object.fromEntries(
      (planned.clouds[0]?.networks ?? []).map((network) => [network.name, network.hosts.map(({ name }) => name)]),
    )
    expect(onNetwork).toMatchObject({ ctlplane: ['a', 'b'], tenant: ['a'], internalapi: [] })
  })

  it('decide the cell of their hosts, which the lock keeps', () => {
    const cloud = {
      services: { nova: { cells: ['cell1', 'cell2'] } },
      hosts: [{ name: 'a', nodeSet: 'two' }],
    }
    const first = plan({ ...cloud, nodeSets: [{ name: 'two', cell: 'cell2' }] })
    expect(first.lock.clouds['rhoso1']?.cells).toEqual({ a: 'cell2' })
    expect(listCodes(plan({ ...cloud, nodeSets: [{ name: 'two', cell: 'cell1' }] }, first.lock))).toEqual(['SL2411'])
  })

  it.each([
    [{ hosts: [{ name: 'a', nodeSet: 'networkr' }], nodeSets: [{ name: 'networker' }] }, 'did you mean networker?'],
    [{ hosts: [{ name: 'a', nodeSet: 'edpm-cell2' }] }, 'has no node set edpm-cell2'],
    [{ hosts, nodeSets: [{ name: 'edpm-cell1', cell: 'cell9' }] }, 'has no nova cell for hosts cell9'],
    [{ hosts, nodeSets: [{ name: 'edpm-cell1', networks: ['tenan'] }] }, 'did you mean tenant?'],
    [{ hosts, nodeSets: [{ name: 'edpm-cell1' }, { name: 'edpm-cell1' }] }, 'there is a node set edpm-cell1 already'],
    [{ hosts, nodeSets: [{ name: 'Compute' }] }, 'cannot name a node set'],
  ])('are refused where a name is wrong: %j', (cloud, message) => {
    const { plan: planned } = plan(cloud)
    const errors = planned.findings.filter(({ severity }) => severity === 'error')
    expect(errors.map((finding) => finding.message).join('\n')).toContain(message)
  })
})
