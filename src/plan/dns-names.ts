/** DNS names: the zone of a network, and what a host is called in it. */
import type { Cloud, CloudNetwork } from '../site/site.ts'

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
