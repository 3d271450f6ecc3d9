import { describe, expect, it } from 'vitest'
import type { IpSet } from '../../api/ipset.ts'
import type { NetConfig, NetConfigSpec } from '../../api/netconfig.ts'
import { formatAddress } from '../../net/address.ts'
import { claimOf } from './claim-of.ts'
import { decide } from './decide.ts'
import { createLedger } from './ledger.ts'
import { type Standing, type StatusForm, statusFor, statusFormOf } from './status.ts'

const subnet = (net: string, over: object): NetConfigSpec['networks'][number]['subnets'][number] => ({
  name: 'subnet1',
  cidr: `${net}.0/24`,
  allocationRanges: [{ start: `${net}.10`, end: `${net}.250` }],
  ...over,
})

/** The NetConfig and the IPSet of the networking design of 2023, as written there. */
const config: NetConfig = {
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'NetConfig',
  metadata: { name: 'netconfig', namespace: 'openstack' },
  spec: {
    networks: [
      {
        name: 'CtlPlane',
        mtu: 1500,
        subnets: [
          subnet('192.168.122', {
            gateway: '192.168.122.1',
            allocationRanges: [
              { start: '192.168.122.100', end: '192.168.122.120' },
              { start: '192.168.122.150', end: '192.168.122.200' },
            ],
          }),
        ],
      },
      {
        name: 'InternalApi',
        mtu: 1500,
        subnets: [subnet('172.17.0', { vlan: 20, excludeAddresses: ['172.17.0.10', '172.17.0.12'] })],
      },
      {
        name: 'External',
        mtu: 1500,
        subnets: [
          subnet('10.0.0', {
            gateway: '10.0.0.1',
            routes: [{ destination: '10.0.1.0/24', nexthop: '10.0.0.100' }],
          }),
        ],
      },
      { name: 'Storage', mtu: 1500, subnets: [subnet('172.18.0', { vlan: 30 })] },
      { name: 'Tenant', mtu: 9000, subnets: [subnet('172.20.0', { vlan: 50 })] },
    ],
  },
}

const asked: IpSet = {
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'IPSet',
  metadata: { name: 'edpm-compute-0', namespace: 'openstack', uid: '3901b2f3', generation: 1 },
  spec: {
    immutable: false,
    networks: [
      { name: 'CtlPlane', subnetName: 'subnet1', defaultRoute: true },
      { name: 'InternalApi', subnetName: 'subnet1', fixedIP: '172.17.0.150' },
      { name: 'Storage', subnetName: 'subnet1' },
      { name: 'Tenant', subnetName: 'subnet1' },
      { name: 'External', subnetName: 'subnet1' },
    ],
  },
}

function standing(): Standing {
  const { claim, wishes } = claimOf(asked, config, undefined)
  const verdicts = decide([claim], createLedger()).verdicts.get('openstack/edpm-compute-0') ?? []
  const allotments = wishes.flatMap((wish, index) => {
    const verdict = verdicts[index]
    return verdict?.kind === 'granted'
      ? [{ ...wish, address: formatAddress({ family: 4, value: verdict.value }) }]
      : []
  })
  return { allotments, causes: [] }
}

const statusIn = (form: StatusForm, ipSet = asked, how = standing()) =>
  statusFor(ipSet, how, form, '2023-05-25T07:27:31Z')

describe('The status of an IPSet', () => {
  it('is in 2023 what the design of 2023 shows: by name, without the default route', () => {
    const lastTransitionTime = '2023-05-25T07:27:31Z'
    const done = { lastTransitionTime, reason: 'Ready', status: 'True' }
    expect(statusIn('2023')).toEqual({
      conditions: [
        { ...done, message: 'Setup complete', type: 'Ready' },
        { ...done, message: 'Input data complete', type: 'InputReady' },
        { ...done, message: 'Reservation successful', type: 'ReservationReady' },
      ],
      reservations: [
        {
          address: '192.168.122.100',
          cidr: '192.168.122.0/24',
          gateway: '192.168.122.1',
          mtu: 1500,
          network: 'CtlPlane',
          subnet: 'subnet1',
        },
        {
          address: '10.0.0.10',
          cidr: '10.0.0.0/24',
          gateway: '10.0.0.1',
          mtu: 1500,
          network: 'External',
          routes: [{ destination: '10.0.1.0/24', nexthop: '10.0.0.100' }],
          subnet: 'subnet1',
        },
        {
          address: '172.17.0.150',
          cidr: '172.17.0.0/24',
          mtu: 1500,
          network: 'InternalApi',
          subnet: 'subnet1',
          vlan: 20,
        },
        {
          address: '172.18.0.10',
          cidr: '172.18.0.0/24',
          mtu: 1500,
          network: 'Storage',
          subnet: 'subnet1',
          vlan: 30,
        },
        // The design shows 1500 here although its own NetConfig says 9000: the NetConfig is right.
        {
          address: '172.20.0.10',
          cidr: '172.20.0.0/24',
          mtu: 9000,
          network: 'Tenant',
          subnet: 'subnet1',
          vlan: 50,
        },
      ],
    })
  })

  it('is today ctlplane first, then as asked for, with the default route and the generation', () => {
    const status = statusIn('today')
    expect(status?.observedGeneration).toBe(1)
    const names = status?.reservations?.map(({ network }) => network)
    expect(names).toEqual(['CtlPlane', 'InternalApi', 'Storage', 'Tenant', 'External'])
    expect(status?.reservations?.[0]).toMatchObject({
      serviceNetwork: 'ctlplane',
      routes: [{ destination: '0.0.0.0/0', nexthop: '192.168.122.1' }],
    })
  })

  it('is not written again when it says the same, and keeps its times where a part does', () => {
    const first = statusIn('today')
    const stored: IpSet = { ...asked, ...(first && { status: first }) }
    expect(statusFor(stored, standing(), 'today', '2030-01-01T00:00:00Z')).toBeUndefined()
    const failed = statusFor(
      stored,
      { allotments: [], causes: ['it is full'] },
      'today',
      '2030-01-01T00:00:00Z',
    )
    expect(failed?.conditions).toMatchObject([
      {
        type: 'Ready',
        status: 'False',
        severity: 'Error',
        message: 'Reservation error occured it is full',
        lastTransitionTime: '2030-01-01T00:00:00Z',
      },
      { type: 'InputReady', status: 'True', lastTransitionTime: '2023-05-25T07:27:31Z' },
      { type: 'ReservationReady', status: 'False' },
    ])
  })

  it('has the form that the served definition can hold', () => {
    expect(statusFormOf({ properties: { serviceNetwork: { type: 'string' } } })).toBe('today')
    expect(statusFormOf({ properties: { dnsDomain: { type: 'string' } } })).toBe('2023')
  })
})
