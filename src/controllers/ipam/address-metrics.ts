/** Registers the address metrics, computed from the caches when Prometheus scrapes them. */
import { Gauge, type Registry } from 'prom-client'
import { type AddressInventory, buildUsageReport } from './usage-report.ts'

export function registerAddressMetrics(registry: Registry, inventory: () => AddressInventory): void {
  const common = { registers: [registry], labelNames: ['namespace', 'network', 'subnet'] }
  // The first gauge is collected first and sets all three; the reset drops subnets that no longer exist.
  const used: Gauge = new Gauge({
    ...common,
    name: 'stackloom_ipam_addresses_used',
    help: 'Held addresses of the allocation ranges',
    collect: () => {
      for (const gauge of [used, free, waiting]) gauge.reset()
      for (const report of buildUsageReport(inventory())) {
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
    help: 'Free addresses of the allocation ranges',
  })
  const waiting = new Gauge({
    ...common,
    name: 'stackloom_ipam_ipsets_waiting',
    help: 'IPSets that wait for an address of the subnet',
  })
}
