import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { hasAddressesBack } from './service-moves.ts'

const move = {
  addresses: ['172.17.0.80', 'fd00:17::80'],
  wants: {
    'metallb.io/address-pool': 'openstack-internalapi',
    'metallb.universe.tf/address-pool': 'openstack-internalapi',
  },
}

function service(given: readonly string[], annotations: Readonly<Record<string, string>>): KubeObject {
  const ingress = given.map((ip) => ({ ip }))
  const metadata = { name: 'keystone-internal', namespace: 'openstack', annotations }
  return { apiVersion: 'v1', kind: 'Service', metadata, status: { loadBalancer: { ingress } } }
}

describe('a Service that moved to another pool', () => {
  it('is back when it asks for the new pool and has every address that it had', () => {
    expect(hasAddressesBack(service(move.addresses, move.wants), move)).toBe(true)
  })

  it('is not back with one of its two addresses', () => {
    expect(hasAddressesBack(service(['172.17.0.80'], move.wants), move)).toBe(false)
  })

  it('is not back while the view shows it as it was before', () => {
    const before = { ...move.wants, 'metallb.io/address-pool': 'internalapi' }
    expect(hasAddressesBack(service(move.addresses, before), move)).toBe(false)
  })

  it('need not keep what an operator writes in the old spelling', () => {
    const old = { ...move.wants, 'metallb.universe.tf/address-pool': 'internalapi' }
    expect(hasAddressesBack(service(move.addresses, old), move)).toBe(true)
  })
})
