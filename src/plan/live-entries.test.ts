import { describe, expect, it } from 'vitest'
import { planSpec } from '../../test/site.ts'
import type { KubeObject } from '../api/object.ts'
import { formatRange } from '../net/range.ts'
import { liveEntries } from './live-entries.ts'

const { plan } = planSpec({})

function entriesOf(...objects: readonly object[]): readonly string[] {
  const found = liveEntries({ objects: objects as readonly KubeObject[], unread: [] }, plan.from)
  return found.map((ledgerEntry) => `${ledgerEntry.owner}: ${formatRange(ledgerEntry)}`)
}

const pool = (name: string, addresses: string[]) => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  metadata: { namespace: 'metallb-system', name },
  spec: { addresses },
})

describe('what the cluster holds', () => {
  it('includes foreign pools, attachments, NetConfigs, Services and nodes', () => {
    expect(
      entriesOf(
        pool('ctlplane', ['192.168.122.80-192.168.122.90']),
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { namespace: 'shop', name: 'web' },
          status: { loadBalancer: { ingress: [{ ip: '172.17.0.200' }] } },
        },
        {
          apiVersion: 'network.openstack.org/v1beta1',
          kind: 'NetConfig',
          metadata: { namespace: 'other', name: 'netconfig' },
          spec: {
            networks: [
              {
                name: 'storage',
                subnets: [
                  {
                    name: 'subnet1',
                    cidr: '172.18.0.0/24',
                    allocationRanges: [{ start: '172.18.0.100', end: '172.18.0.120' }],
                  },
                ],
              },
            ],
          },
        },
        {
          apiVersion: 'v1',
          kind: 'Node',
          metadata: { name: 'worker-0' },
          status: { addresses: [{ type: 'InternalIP', address: '192.168.111.20' }] },
        },
        {
          apiVersion: 'whereabouts.cni.cncf.io/v1alpha1',
          kind: 'IPPool',
          metadata: { namespace: 'kube-system', name: '172.17.0.0-24' },
          spec: {
            range: '172.17.0.0/24',
            allocations: { '33': { podref: 'shop/web-0' }, '34': { podref: 'openstack/keystone-0' } },
          },
        },
      ),
    ).toEqual([
      'metallb.io/IPAddressPool metallb-system/ctlplane: 192.168.122.80-192.168.122.90',
      'Service shop/web: 172.17.0.200',
      'network.openstack.org/NetConfig other/netconfig: 172.18.0.100-172.18.0.120',
      'Node worker-0: 192.168.111.20',
      'whereabouts.cni.cncf.io/IPPool kube-system/172.17.0.0-24 (pod shop/web-0): 172.17.0.33',
    ])
  })

  it('leaves out what the plan has: pools by name, namespaces of clouds, objects of Stackloom', () => {
    const ours = {
      ...pool('somebody', ['10.0.0.0/24']),
      metadata: { name: 'x', labels: { 'app.kubernetes.io/managed-by': 'stackloom' } },
    }
    expect(entriesOf(pool('openstack-internalapi', ['172.17.0.80-172.17.0.90']), ours)).toEqual([])
  })

  it('conflicts with the plan where both have an address, with the object and a suggestion', () => {
    const live = liveEntries(
      {
        objects: [pool('ctlplane', ['192.168.122.85-192.168.122.95'])] as unknown as KubeObject[],
        unread: [],
      },
      plan.from,
    )
    const found = planSpec({}, { live }).plan.findings.find((finding) => finding.code === 'SL2113')
    expect(found?.message).toContain('rhoso1/ctlplane vips')
    expect(found?.message).toContain('IPAddressPool metallb-system/ctlplane')
    expect(found?.remedy).toContain('import')
  })
})
