import { describe, expect, it } from 'vitest'
import { design2023 } from '../../../test/ipam.ts'
import type { IpSet } from '../../api/ipset.ts'
import { formatAddress } from '../../net/address.ts'
import { buildClaim } from './claim.ts'
import { buildIpSetStatus, detectStatusForm, type IpSetState, type StatusForm } from './ipset-status.ts'
import { createLedger } from './ledger.ts'
import { planAllocation } from './plan-allocation.ts'

const config = design2023.netConfig
const asked: IpSet = {
  ...design2023.ipSet,
  metadata: { ...design2023.ipSet.metadata, uid: '3901b2f3', generation: 1 },
}

function standing(): IpSetState {
  const { claim, networks } = buildClaim(asked, config, undefined)
  const verdicts = planAllocation([claim], createLedger()).results.get('openstack/edpm-compute-0') ?? []
  const allotments = networks.flatMap((wish, index) => {
    const verdict = verdicts[index]
    return verdict?.kind === 'granted' ? [{ ...wish, address: formatAddress({ family: 4, value: verdict.value }) }] : []
  })
  return { allocated: allotments, causes: [] }
}

const statusIn = (form: StatusForm, ipSet = asked, how = standing()) =>
  buildIpSetStatus(ipSet, how, form, '2023-05-25T07:27:31Z')

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
      reservations: design2023.reservations,
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
    expect(buildIpSetStatus(stored, standing(), 'today', '2030-01-01T00:00:00Z')).toBeUndefined()
    const failed = buildIpSetStatus(stored, { allocated: [], causes: ['it is full'] }, 'today', '2030-01-01T00:00:00Z')
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
    expect(detectStatusForm({ properties: { serviceNetwork: { type: 'string' } } })).toBe('today')
    expect(detectStatusForm({ properties: { dnsDomain: { type: 'string' } } })).toBe('2023')
  })
})
