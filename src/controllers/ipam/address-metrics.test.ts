import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { ipSet, netConfig, threeNetworks } from '../../../test/ipam.ts'
import { address } from '../../net/address.ts'
import { registerAddressMetrics } from './address-metrics.ts'
import type { HeldAddress } from './ledger.ts'
import { createHeldFinder } from './usage-report.ts'

it('address metrics are computed at every scrape', async () => {
  const registry = new Registry()
  const held: HeldAddress[] = []
  registerAddressMetrics(registry, () => ({
    netConfigs: [netConfig(threeNetworks)],
    ipSets: [ipSet('b', [{}])],
    findHeld: createHeldFinder(held),
  }))
  const labels = '{namespace="ns",network="net-1",subnet="subnet1"}'
  expect(await registry.metrics()).toContain(`stackloom_ipam_addresses_free${labels} 101`)
  const holder = { uid: 'u', namespace: 'ns', name: 'a', network: 'net-1' }
  held.push({ address: { segment: 'vlan-20', ...address('172.17.0.100') }, holder })
  const page = await registry.metrics()
  expect(page).toContain(`stackloom_ipam_addresses_used${labels} 1`)
  expect(page).toContain(`stackloom_ipam_addresses_free${labels} 100`)
  expect(page).toContain(`stackloom_ipam_ipsets_waiting${labels} 1`)
})
