/** Addresses of the cluster against the plan: each way in which they may differ. */
import { describe, expect, it } from 'vitest'
import { healthySnapshot, withObject } from '../../../test/healthy-snapshot.ts'
import { planSpec } from '../../../test/site.ts'
import type { KubeObject } from '../../api/object.ts'
import { indexSnapshot, type Snapshot } from '../../api/snapshot.ts'
import { parseCidr } from '../../net/cidr.ts'
import { listHeldAddresses } from '../../verify/held-addresses.ts'
import { compareAddresses, indexHeldAddresses } from './live-addresses.ts'

const { plan } = planSpec({
  clouds: [{ name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'edpm-compute-0' }] }],
})
const healthy = healthySnapshot(plan)

function marksOf(snapshot: Snapshot) {
  const [cloud] = plan.clouds
  const network = cloud?.networks.find(({ name }) => name === 'internalapi')
  const [subnet] = network?.subnets ?? []
  const cidr = subnet && parseCidr(subnet.cidr)
  if (!cloud || !network || !subnet || !cidr) throw new Error('the plan has no such subnet')
  const live = indexHeldAddresses(listHeldAddresses(indexSnapshot(snapshot)))
  return new Map(compareAddresses({ cloud, network, subnet, cidr }, live).map((mark) => [mark.id, mark]))
}

const reservation = (name: string, address: string): KubeObject => ({
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'Reservation',
  metadata: { name, namespace: 'openstack' },
  spec: { ipSetRef: { name }, reservation: { internalapi: { network: 'internalapi', subnet: 'subnet1', address } } },
})

const whereabouts = (offset: number, pod: string): KubeObject => ({
  apiVersion: 'whereabouts.cni.cncf.io/v1alpha1',
  kind: 'IPPool',
  metadata: { name: 'another-pool', namespace: 'kube-system' },
  spec: { range: '172.17.0.0/24', allocations: { [offset]: { id: 'x', ifname: 'net1', podref: pod } } },
})

describe('an address', () => {
  it('is right in a healthy cluster', () => {
    const states = new Set([...marksOf(healthy).values()].map(({ state }) => state))
    expect(states).toEqual(new Set(['same', 'planned']))
  })

  it('of a host is right inside the span for hosts, and outside of it elsewhere', () => {
    const marks = marksOf(
      withObject(withObject(healthy, reservation('late', '172.17.0.120')), reservation('lost', '172.17.0.252')),
    )
    expect(marks.get('172.17.0.120')).toMatchObject({ state: 'same', live: ['Reservation openstack/late'] })
    expect(marks.get('172.17.0.252')).toMatchObject({
      state: 'outside',
      reason: 'Reservation openstack/lost has it, outside the span for hosts',
    })
  })

  it('that whereabouts gave out is right inside the span for pods, and outside of it elsewhere', () => {
    expect(marksOf(withObject(healthy, whereabouts(41, 'openstack/nova-0'))).get('172.17.0.41')?.state).toBe('same')
    expect(marksOf(withObject(healthy, whereabouts(201, 'openstack/nova-0'))).get('172.17.0.201')).toMatchObject({
      state: 'outside',
      reason: 'Pod openstack/nova-0 has it, outside the span for pods',
    })
  })

  it('that two objects have is a conflict of both', () => {
    const marks = marksOf(withObject(healthy, whereabouts(100, 'openstack/nova-0')))
    expect(marks.get('172.17.0.100')).toMatchObject({
      state: 'conflict',
      reason: 'Pod openstack/nova-0 and Reservation openstack/edpm-compute-0 have it',
    })
  })

  it('of another namespace is foreign, also inside a span', () => {
    expect(marksOf(withObject(healthy, whereabouts(42, 'shop/web-0'))).get('172.17.0.42')).toMatchObject({
      state: 'foreign',
      reason: 'Pod shop/web-0 has it, and it belongs to cloud rhoso1',
    })
  })
})
