/** DNS names: the domain of a network, the names of a host in it, and the records that a cloud's DNS serves. Pure. */
import type { Cloud, CloudNetwork } from '../site/site.ts'
import type { PlannedCloud, PlannedHostAddress } from './plan.ts'
import { slotServiceName } from './slots/service-names.ts'

/** Each cloud has its name zones, so hosts of two clouds may have equal names. */
export function networkDnsDomain(cloud: Cloud, network: CloudNetwork): string {
  if (network.settings.dnsDomain !== undefined) return network.settings.dnsDomain
  return `${network.name}.${cloud.file.dns?.domain ?? `${cloud.name}.example.com`}`
}

/** `compute-0.internalapi.example.com`; a host whose name has a domain keeps that name on ctlplane too. */
export function hostNames(host: string, network: string, dnsDomain: string): readonly string[] {
  const dot = host.indexOf('.')
  const name = `${dot < 0 ? host : host.slice(0, dot)}.${dnsDomain}`
  return dot >= 0 && network === 'ctlplane' && host !== name ? [name, host] : [name]
}

/** What the DNS of a cloud serves for a host: also the short names that the operator's own records have. */
export function servedHostNames({ name, names }: PlannedHostAddress, network: string): readonly string[] {
  const [label = name] = name.split('.')
  return [...new Set([...names, `${label}.${network}`, ...(network === 'ctlplane' ? [name] : [])])]
}

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
      // The DNS server itself is reached by its address: its name cannot be resolved without it.
      if (service === undefined || slot === 'dns') return []
      return [{ name: `${service}.${namespace}.svc`, address, from: slot }]
    }),
  )
  const hosts = networks.flatMap((network) =>
    network.hosts.flatMap((host) =>
      servedHostNames(host, network.name).map(
        (name): CloudDnsName => ({ name, address: host.address, from: `host ${host.name}` }),
      ),
    ),
  )
  return [...vips, ...hosts]
}
