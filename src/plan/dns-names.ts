/** DNS names: the zone of a network, and what a host is called in it. */
import { type Cloud, type CloudNetwork } from '../site/site.ts'
import { type PlannedCloud } from './plan.ts'
import { slotServiceName } from './slots/service-names.ts'

/** Zones of their own: two clouds with equal names for their hosts never answer for each other. */
export function networkDnsDomain(cloud: Cloud, network: CloudNetwork): string {
  if (network.settings.dnsDomain !== undefined) return network.settings.dnsDomain
  return `${network.name}.${cloud.file.dns?.domain ?? `${cloud.name}.example.com`}`
}

/** `compute-0.internalapi.example.com`; a host that brings its domain is known by it on ctlplane too. */
export function hostNames(host: string, network: string, dnsDomain: string): readonly string[] {
  const dot = host.indexOf('.')
  const own = `${dot < 0 ? host : host.slice(0, dot)}.${dnsDomain}`
  return dot >= 0 && network === 'ctlplane' && host !== own ? [own, host] : [own]
}

// FOLDED src/plan/cloud-names.ts
/** The names that a cloud's own DNS is to answer, from its plan: internal endpoints by Service, hosts by network. Pure. */
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
