/** The names that a cloud's own DNS is to answer, from its plan: internal endpoints by Service, hosts by network. Pure. */
import type { PlannedCloud } from './plan.ts'
import { slotServiceName } from './slots/service-names.ts'

export interface CloudDnsName {
  readonly name: string
  readonly address: string
  /** `keystone.internal`, or `host compute-0`. */
  readonly from: string
}

export function listCloudDnsNames({ namespace, networks, uses }: PlannedCloud): readonly CloudDnsName[] {
  const services = new Map(uses.map((use) => [use.name, slotServiceName(use)]))
  const vips = networks.flatMap((network) =>
    network.vips.flatMap(({ slot, address }): readonly CloudDnsName[] => {
      const service = services.get(slot)
      // The server itself is asked by its address: nobody can look up its name without it.
      if (service === undefined || slot === 'dns') return []
      return [{ name: `${service}.${namespace}.svc`, address, from: slot }]
    }),
  )
  const hosts = networks.flatMap((network) =>
    network.hosts.flatMap(({ name: host, address, names }) =>
      names.map((name): CloudDnsName => ({ name, address, from: `host ${host}` })),
    ),
  )
  return [...vips, ...hosts]
}
