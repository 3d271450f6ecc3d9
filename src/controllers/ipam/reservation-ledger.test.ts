import { describe, expect, it } from 'vitest'
import { ipSet, netConfig, networkVersion, threeNetworks } from '../../../test/ipam.ts'
import type { IpSet, Reservation } from '../../api/ipset.ts'
import type { NetConfig } from '../../api/netconfig.ts'
import { formatAddress } from '../../net/address.ts'
import { readReservationLedger } from './reservation-ledger.ts'

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

const codes = (witness: ReturnType<typeof readReservationLedger>, one: IpSet): readonly string[] =>
  witness.findingsFor(one).map(({ code }) => code)

describe('The ledger as Reservations tell it', () => {
  it('holds what they name', () => {
    const { held } = readReservationLedger({
      netConfigs: [config],
      reservations: [reservation('a', '172.17.0.100'), reservation('b', 'nonsense')],
    })
    expect(held.map(({ spot, holder }) => [formatAddress(spot), holder.name])).toEqual([['172.17.0.100', 'a']])
  })

  it('knows why an IPSet has no address, and has nothing to say about one that has, or will have', () => {
    const witness = readReservationLedger({ netConfigs: [config], reservations: [reservation('a', '172.17.0.100')] })
    expect(codes(witness, ipSet('a', [{}]))).toEqual([])
    expect(codes(witness, ipSet('new', [{}]))).toEqual([])
    expect(codes(witness, ipSet('b', [{ fixedIP: '172.17.0.100' }]))).toEqual(['SL5002'])
    expect(codes(witness, ipSet('c', [{ fixedIP: '172.17.0.201' }]))).toEqual(['SL5003'])
    expect(codes(witness, ipSet('d', [{ name: 'net-9' }]))).toEqual(['SL5005'])
  })

  it('tells both whose address is one on their segment', () => {
    const witness = readReservationLedger({
      netConfigs: [config, elsewhere],
      reservations: [reservation('a', '172.17.0.100'), reservation('bb', '172.17.0.100', 'ns2')],
    })
    expect(codes(witness, ipSet('a', [{}]))).toEqual(['SL5006'])
    const [told, ...more] = witness.findingsFor(ipSet('bb', [{}], 'ns2'))
    expect(more).toEqual([])
    expect(told?.message).toBe('172.17.0.100 on net-1 (segment vlan-20) is reserved for ns/a and for ns2/bb')
  })
})
