import { describe, expect, it } from 'vitest'
import { dataPlaneNode } from '../../../test/data-plane.ts'
import { ipSet } from '../../../test/ipam.ts'
import type { DnsMasq, DnsMasqStatus } from '../../api/dnsmasq.ts'
import { DNS_ANNOTATION, dnsMasqs } from '../../controllers/dns/dns-kinds.ts'
import { desiredDnsData, dnsDataState, nameservers } from './node-dns.ts'

const node = dataPlaneNode('n')
const reservations = [
  { network: 'ctlplane', subnet: 's', address: '192.168.122.100', dnsDomain: 'ctlplane.example.org' },
]
const granted = { ...ipSet('n', [], 'openstack'), status: { reservations } }
const server = (name: string, status: DnsMasqStatus = {}, spec: DnsMasq['spec'] = {}): DnsMasq => ({
  ...dnsMasqs,
  metadata: { name, namespace: 'openstack' },
  spec,
  status,
})
const ready = [{ type: 'Ready', status: 'True' as const }]

describe('the names of a node', () => {
  it('are registered for the server of its namespace, with the addresses of its IPSet', () => {
    expect(desiredDnsData(node, granted, [server('dns', {}, { dnsDataLabelSelectorValue: 'mine' })])).toMatchObject({
      metadata: { name: 'n-dataplane', namespace: 'openstack' },
      spec: {
        dnsDataLabelSelectorValue: 'mine',
        hosts: [{ ip: '192.168.122.100', hostnames: ['n.ctlplane.example.org', 'n.ctlplane', 'n'] }],
      },
    })
  })

  it('are not registered without a server, without addresses, or when the IPSet registers itself', () => {
    const { metadata } = granted
    const asking = { ...granted, metadata: { ...metadata, annotations: { [DNS_ANNOTATION]: 'true' } } }
    expect(desiredDnsData(node, granted, [])).toBeUndefined()
    expect(desiredDnsData(node, ipSet('n', []), [server('dns')])).toBeUndefined()
    expect(desiredDnsData(node, undefined, [server('dns')])).toBeUndefined()
    expect(desiredDnsData(node, asking, [server('dns')])).toBeUndefined()
  })

  it('are awaited, and so is a server without an address', () => {
    const addressed = server('dns', { dnsAddresses: ['192.168.122.80'] })
    const desired = desiredDnsData(node, granted, [addressed])
    const registered = desired && { ...desired, status: { conditions: ready } }
    expect(dnsDataState(undefined, undefined, [])).toEqual({ kind: 'not-needed' })
    expect(dnsDataState(desired, undefined, [addressed])).toMatchObject({
      why: 'Waiting for DNSData n-dataplane',
    })
    expect(dnsDataState(desired, registered, [addressed])).toEqual({ kind: 'ready' })
    expect(dnsDataState(desired, registered, [server('late')])).toMatchObject({
      why: 'Waiting for DNSMasq late to have its address',
    })
    expect(dnsDataState(desired, registered, [server('inside', { conditions: ready })])).toEqual({
      kind: 'ready',
    })
    expect(nameservers([addressed, server('inside')])).toEqual(['192.168.122.80'])
  })
})
