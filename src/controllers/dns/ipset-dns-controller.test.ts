import { describe, expect, it } from 'vitest'
import { ipSet } from '../../../test/ipam.ts'
import { DNS_ANNOTATION } from './dns-kinds.ts'
import { hostsForIpSet, isDnsRequested } from './ipset-dns-controller.ts'

describe('hostsForIpSet', () => {
  const reservations = [
    { network: 'CtlPlane', subnet: 's', address: '192.168.122.100', dnsDomain: 'ctlplane.example.com' },
    { network: 'InternalApi', subnet: 's', address: '172.17.0.100', dnsDomain: 'internalapi.example.com' },
    { network: 'tenant', subnet: 's', address: 'fd00:19::100' },
  ]

  it('registers the host in the domain of every network, and its full name on the control plane network', () => {
    expect(hostsForIpSet({ ...ipSet('edpm-compute-0', []), status: { reservations } })).toEqual([
      {
        ip: '192.168.122.100',
        hostnames: ['edpm-compute-0.ctlplane.example.com', 'edpm-compute-0.ctlplane', 'edpm-compute-0'],
      },
      {
        ip: '172.17.0.100',
        hostnames: ['edpm-compute-0.internalapi.example.com', 'edpm-compute-0.internalapi'],
      },
      { ip: 'fd00:19::100', hostnames: ['edpm-compute-0.tenant'] },
    ])
  })

  it('is requested by annotation or by label', () => {
    const plain = ipSet('a', [])
    const asking = { ...plain, metadata: { ...plain.metadata, annotations: { [DNS_ANNOTATION]: 'true' } } }
    const labelled = { ...plain, metadata: { ...plain.metadata, labels: { [DNS_ANNOTATION]: 'true' } } }
    expect([isDnsRequested(plain), isDnsRequested(asking), isDnsRequested(labelled)]).toEqual([false, true, true])
  })
})
