import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { hasAddressesBack } from './service-moves.ts'

const move = {
  addresses: ['172.17.0.80', 'fd00:17::80'],
  requested: {
    'metallb.io/address-pool': 'openstack-internalapi',
    'metallb.universe.tf/address-pool': 'openstack-internalapi',
  },
}

function service(assigned: readonly string[], annotations: Readonly<Record<string, string>>): KubeObject {
  const ingress = assigned.map((ip) => ({ ip }))
  const metadata = { name: 'keystone-internal', namespace: 'openstack', annotations }
  return { apiVersion: 'v1', kind: 'Service', metadata, status: { loadBalancer: { ingress } } }
}

describe('hasAddressesBack', () => {
  it('is true when the Service requests the new pool and has all its addresses', () => {
    expect(hasAddressesBack(service(move.addresses, move.requested), move)).toBe(true)
  })

  it('is false with one of two addresses', () => {
    expect(hasAddressesBack(service(['172.17.0.80'], move.requested), move)).toBe(false)
  })

  it('is false while the view shows the annotations from before', () => {
    const before = { ...move.requested, 'metallb.io/address-pool': 'internalapi' }
    expect(hasAddressesBack(service(move.addresses, before), move)).toBe(false)
  })

  it('ignores annotations in the old spelling, which an operator may rewrite', () => {
    const old = { ...move.requested, 'metallb.universe.tf/address-pool': 'internalapi' }
    expect(hasAddressesBack(service(move.addresses, old), move)).toBe(true)
  })
})
