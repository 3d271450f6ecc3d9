import { describe, expect, it } from 'vitest'
import { ipSet } from '../../../test/ipam.ts'
import { addressVars } from './address-vars.ts'

const granted = {
  ...ipSet('host', [{ name: 'internalapi' }]),
  status: {
    reservations: [
      {
        network: 'InternalApi',
        subnet: 'subnet1',
        address: '172.17.0.100',
        cidr: '172.17.0.0/24',
        vlan: 20,
        mtu: 1500,
        gateway: '172.17.0.1',
        routes: [{ destination: '0.0.0.0/0', nexthop: '172.17.0.1' }],
      },
      { network: 'ctlplane', subnet: 'subnet1', address: '192.168.122.100' },
    ],
  },
}

describe('addressVars', () => {
  it('renders variables by network, and omits what is not set', () => {
    expect(addressVars(granted)).toEqual({
      internalapi_ip: '172.17.0.100',
      internalapi_cidr: 24,
      internalapi_vlan_id: 20,
      internalapi_mtu: 1500,
      internalapi_gateway_ip: '172.17.0.1',
      internalapi_host_routes: [{ ip_netmask: '0.0.0.0/0', next_hop: '172.17.0.1' }],
      ctlplane_ip: '192.168.122.100',
    })
  })

  it('renders the domains, the canonical host name and the DNS servers', () => {
    const reservations = [
      { network: 'tenant', subnet: 's', address: '172.19.0.100', dnsDomain: 'tenant.example.org' },
      { network: 'ctlplane', subnet: 's', address: '192.168.122.100', dnsDomain: 'ctlplane.example.org' },
    ]
    const named = { ...ipSet('host.example.org', []), status: { reservations } }
    expect(addressVars(named, ['192.168.122.80'])).toEqual({
      tenant_ip: '172.19.0.100',
      ctlplane_ip: '192.168.122.100',
      dns_search_domains: ['ctlplane.example.org', 'tenant.example.org'],
      canonical_hostname: 'host.ctlplane.example.org',
      ctlplane_dns_nameservers: ['192.168.122.80'],
    })
    expect(addressVars(named)).not.toHaveProperty('ctlplane_dns_nameservers')
  })

  it('returns nothing without addresses, and the same value for the same IPSet', () => {
    expect(addressVars(undefined)).toBe(addressVars(ipSet('host', [])))
    expect(addressVars(granted)).toBe(addressVars(granted))
  })
})
