import { describe, expect, it } from 'vitest'
import { design2023 } from '../../../test/ipam.ts'
import type { IpSet } from '../../api/ipset.ts'
import { finding } from '../../errors/finding.ts'
import { buildClaim } from './claim.ts'
import { unknownNetwork } from './findings.ts'
import {
  buildIpSetStatus,
  buildReservation,
  detectStatusForm,
  type IpSetState,
  type StatusForm,
  summarizeResults,
} from './ipset-results.ts'
import { createLedger } from './ledger.ts'
import { planAllocation } from './plan-allocation.ts'

const config = design2023.netConfig
const requested: IpSet = {
  ...design2023.ipSet,
  metadata: { ...design2023.ipSet.metadata, uid: '3901b2f3', generation: 1 },
}

function allocate(): IpSetState {
  const request = buildClaim(requested, config, undefined)
  const { results } = planAllocation([request.claim], createLedger())
  return summarizeResults(request, results.get('openstack/edpm-compute-0') ?? [])
}

const buildStatus = (form: StatusForm) => buildIpSetStatus(requested, allocate(), form, '2023-05-25T07:27:31Z')

describe('buildIpSetStatus', () => {
  it('writes the legacy form sorted by name, without the default route', () => {
    const lastTransitionTime = '2023-05-25T07:27:31Z'
    const done = { lastTransitionTime, reason: 'Ready', status: 'True' }
    expect(buildStatus('legacy')).toEqual({
      conditions: [
        { ...done, message: 'Setup complete', type: 'Ready' },
        { ...done, message: 'Input data complete', type: 'InputReady' },
        { ...done, message: 'Reservation successful', type: 'ReservationReady' },
      ],
      reservations: design2023.reservations,
    })
  })

  it('writes the current form with ctlplane first, the default route and the generation', () => {
    const status = buildStatus('current')
    expect(status?.observedGeneration).toBe(1)
    const names = status?.reservations?.map(({ network }) => network)
    expect(names).toEqual(['CtlPlane', 'InternalApi', 'Storage', 'Tenant', 'External'])
    expect(status?.reservations?.[0]).toMatchObject({
      serviceNetwork: 'ctlplane',
      routes: [{ destination: '0.0.0.0/0', nexthop: '192.168.122.1' }],
    })
  })

  it('returns nothing when the status is the same, and keeps the times of unchanged conditions', () => {
    const first = buildStatus('current')
    const stored: IpSet = { ...requested, ...(first && { status: first }) }
    expect(buildIpSetStatus(stored, allocate(), 'current', '2030-01-01T00:00:00Z')).toBeUndefined()
    const findings = [finding(unknownNetwork, { network: 'x', subnet: 'y', why: 'network' })]
    const failed = buildIpSetStatus(stored, { allocated: [], findings }, 'current', '2030-01-01T00:00:00Z')
    expect(failed?.conditions).toMatchObject([
      {
        type: 'Ready',
        status: 'False',
        severity: 'Error',
        message: 'Reservation error occured no network with name: x',
        lastTransitionTime: '2030-01-01T00:00:00Z',
      },
      { type: 'InputReady', status: 'True', lastTransitionTime: '2023-05-25T07:27:31Z' },
      { type: 'ReservationReady', status: 'False' },
    ])
  })

  it('uses the form that the served CRD accepts', () => {
    expect(detectStatusForm({ properties: { serviceNetwork: { type: 'string' } } })).toBe('current')
    expect(detectStatusForm({ properties: { dnsDomain: { type: 'string' } } })).toBe('legacy')
  })
})

describe('the Reservation of an IPSet', () => {
  it('has no label for a network whose name is too long for one, and the others', () => {
    const [network, other] = config.spec.networks
    const [subnet] = network?.subnets ?? []
    if (!network || !other || !subnet) throw new Error('the NetConfig has networks')
    const allocated = [network, { ...other, name: 'n'.repeat(200) }].map((each, index) => ({
      network: each,
      subnet,
      defaultRoute: false,
      address: `192.168.122.10${index}`,
    }))
    const reservation = buildReservation(requested, allocated, undefined)
    expect(reservation?.metadata.labels).toEqual({ [`ipam.network.openstack.org/${network.name}`]: subnet.name })
    expect(Object.keys(reservation?.spec.reservation ?? {})).toHaveLength(2)
  })
})
