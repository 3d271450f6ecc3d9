import { describe, expect, it } from 'vitest'
import { emptyLock } from '../plan/lock.ts'
import { planSite } from '../plan/planner.ts'
import { builtInTable } from '../plan/slots/built-in-crds.ts'
import { readSite } from '../site/read.ts'
import { indexSharing } from './subnet-sharing.ts'

describe('indexSharing', () => {
  it('names every namespace on the same VLAN with an overlapping subnet, in the order of the plan', () => {
    const sharing = indexSharing(
      planOf({ b: [20, '172.20.0.0/16'], a: [20, '172.20.1.0/24'], c: [20, '172.20.2.0/24'] }),
    )
    expect(sharing.get('b')).toEqual(['a', 'c'])
    expect(sharing.get('a')).toEqual(['b'])
    expect(sharing.get('c')).toEqual(['b'])
  })

  it('does not join clouds by a subnet that they have on different VLANs', () => {
    const sharing = indexSharing(planOf({ a: [20, '172.20.0.0/24'], b: [21, '172.20.0.0/24'] }))
    expect([...sharing]).toEqual([
      ['a', []],
      ['b', []],
    ])
  })
})

function planOf(clouds: Readonly<Record<string, readonly [vlan: number, cidr: string]>>) {
  const file = {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: 'sharing' },
    spec: {
      cluster: { dns: ['192.168.122.1'], nodes: [{ name: 'worker-0', nic: 'enp6s0' }] },
      clouds: Object.entries(clouds).map(([name, [vlan, cidr]]) => ({
        name,
        namespace: name,
        networks: { tenant: { vlan, subnets: [{ cidr }] } },
      })),
    },
  }
  const { site, locate, findings } = readSite(JSON.stringify(file), 'site.yaml')
  if (!site) throw new Error(JSON.stringify(findings))
  const { plan } = planSite({ site, lock: emptyLock(site.name), slots: builtInTable('today'), locate, findings })
  // Only the network under test: the planner gives the others subnets of their own.
  return {
    ...plan,
    clouds: plan.clouds.map((cloud) => ({
      ...cloud,
      networks: cloud.networks.filter((network) => network.name === 'tenant'),
    })),
  }
}
