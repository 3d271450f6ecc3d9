/** Registers the address metrics, computed from the caches when Prometheus scrapes them. */
import { Gauge, type Registry } from 'prom-client'
import { type CountedInventory, countSubnets } from './usage-report.ts'

/** Of one namespace: more time series than a tenant should cause in Prometheus. */
const MAX_SUBNETS = 1_000
/** A scrape must not delay reviews and reconciles. */
const SUBNETS_PER_TURN = 100
const ADDRESSES_PER_TURN = 20_000

export function registerAddressMetrics(registry: Registry, inventory: () => CountedInventory): void {
  const common = { registers: [registry], labelNames: ['namespace', 'network', 'subnet'] }
  let running: Promise<void> | undefined
  // All gauges of a scrape await the same pass, which drops subnets that no longer exist.
  const collect = (): Promise<void> => {
    running ??= setGauges().finally(() => {
      running = undefined
    })
    return running
  }
  const setGauges = async (): Promise<void> => {
    for (const gauge of [used, free, waiting]) gauge.reset()
    const counts = new Map<string, number>()
    let sinceYield = { subnets: 0, addresses: 0 }
    for (const { namespace, network, subnet, ...report } of countSubnets(inventory())) {
      const count = (counts.get(namespace) ?? 0) + 1
      counts.set(namespace, count)
      sinceYield = { subnets: sinceYield.subnets + 1, addresses: sinceYield.addresses + report.used }
      if (sinceYield.subnets >= SUBNETS_PER_TURN || sinceYield.addresses >= ADDRESSES_PER_TURN) {
        await new Promise((resolve) => setImmediate(resolve))
        sinceYield = { subnets: 0, addresses: 0 }
      }
      if (count > MAX_SUBNETS) continue
      used.set({ namespace, network, subnet }, report.used)
      free.set({ namespace, network, subnet }, Number(report.free))
      waiting.set({ namespace, network, subnet }, report.waiting)
    }
  }
  const used = new Gauge({
    ...common,
    name: 'stackloom_ipam_addresses_used',
    help: 'Held addresses of the allocation ranges',
    collect,
  })
  const free = new Gauge({
    ...common,
    name: 'stackloom_ipam_addresses_free',
    help: 'Free addresses of the allocation ranges',
    collect,
  })
  const waiting = new Gauge({
    ...common,
    name: 'stackloom_ipam_ipsets_waiting',
    help: 'IPSets that wait for an address of the subnet',
    collect,
  })
}
