/** Figures of the addresses for Prometheus: counted when somebody reads them, from what the caches hold. */
import { Gauge, type Registry } from 'prom-client'
import { type AddressInventory, buildUsageReport } from './usage-report.ts'

export function registerAddressMetrics(registry: Registry, stock: () => AddressInventory): void {
  const common = { registers: [registry], labelNames: ['namespace', 'network', 'subnet'] }
  // The first one is asked first: one look fills all three, and subnets that are gone leave no figure behind.
  const used: Gauge = new Gauge({
    ...common,
    name: 'stackloom_ipam_addresses_used',
    help: 'Addresses of the allocation ranges that are held',
    collect: () => {
      for (const gauge of [used, free, waiting]) gauge.reset()
      for (const report of buildUsageReport(stock())) {
        const { namespace, network, subnet } = report
        used.set({ namespace, network, subnet }, report.used)
        free.set({ namespace, network, subnet }, Number(report.free))
        waiting.set({ namespace, network, subnet }, report.waiting.length)
      }
    },
  })
  const free = new Gauge({
    ...common,
    name: 'stackloom_ipam_addresses_free',
    help: 'Addresses of the allocation ranges that are left',
  })
  const waiting = new Gauge({
    ...common,
    name: 'stackloom_ipam_ipsets_waiting',
    help: 'IPSets that wait for an address of the subnet',
  })
}
