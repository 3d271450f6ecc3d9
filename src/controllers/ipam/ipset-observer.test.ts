import { describe, expect, it } from 'vitest'
import { ipSet, netConfig, networkVersion, threeNetworks } from '../../../test/ipam.ts'
import type { IpSet, Reservation } from '../../api/ipset.ts'
import type { NetConfig } from '../../api/netconfig.ts'
import { formatAddress } from '../../net/address.ts'
import { readReservationLedger } from './ipset-observer.ts'

const config = netConfig(threeNetworks)
const elsewhere: NetConfig = { ...config, metadata: { ...config.metadata, namespace: 'ns2' } }

function reservation(name: string, address: string, namespace = 'ns'): Reservation {
  return {
    apiVersion: networkVersion,
    kind: 'Reservation',
    metadata: { name, namespace, creationTimestamp: `2026-01-01T00:00:0${name.length}Z` },
    spec: { ipSetRef: {}, reservation: { 'net-1': { network: 'net-1', subnet: 'subnet1', address } } },
  } as Reservation
}

const codes = (ledger: ReturnType<typeof readReservationLedger>, object: IpSet): readonly string[] =>
  ledger.findingsFor(object).map(({ code }) => code)

describe('readReservationLedger', () => {
  it('holds the addresses of the Reservations', () => {
    const { held } = readReservationLedger({
      netConfigs: [config],
      reservations: [reservation('a', '172.17.0.100'), reservation('b', 'nonsense')],
    })
    expect(held.map(({ address, holder }) => [formatAddress(address), holder.name])).toEqual([['172.17.0.100', 'a']])
  })

  it('finds why an IPSet has no address, and nothing for one that has or will have one', () => {
    const ledger = readReservationLedger({ netConfigs: [config], reservations: [reservation('a', '172.17.0.100')] })
    expect(codes(ledger, ipSet('a', [{}]))).toEqual([])
    expect(codes(ledger, ipSet('new', [{}]))).toEqual([])
    expect(codes(ledger, ipSet('b', [{ fixedIP: '172.17.0.100' }]))).toEqual(['SL5002'])
    expect(codes(ledger, ipSet('c', [{ fixedIP: '172.17.0.201' }]))).toEqual(['SL5003'])
    expect(codes(ledger, ipSet('d', [{ name: 'net-9' }]))).toEqual(['SL5005'])
  })

  it('reports an address that two IPSets of a segment share to both', () => {
    const ledger = readReservationLedger({
      netConfigs: [config, elsewhere],
      reservations: [reservation('a', '172.17.0.100'), reservation('bb', '172.17.0.100', 'ns2')],
    })
    expect(codes(ledger, ipSet('a', [{}]))).toEqual(['SL5006'])
    const [duplicate, ...more] = ledger.findingsFor(ipSet('bb', [{}], 'ns2'))
    expect(more).toEqual([])
    expect(duplicate?.message).toBe('172.17.0.100 on net-1 (segment vlan-20) is reserved for ns/a and for ns2/bb')
  })
})
