/**
 * The hosts of LoadBalancer Services that ask to be registered, for the DNSMasqs of their namespace. Pure.
 *
 * One address has all names of all Services that share it, as upstream writes it; one Service that cannot be
 * registered does not keep the others from it.
 */
import type { DnsHost } from '../../api/dnsdata.ts'
import { type KubeObject, keyOf } from '../../api/object.ts'
import { ingressWithoutAddress } from '../../errors/dns.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { compareAddresses, formatAddress, parseAddress } from '../../net/address.ts'
import { ingressOf, isLoadBalancer } from './dnsmasq-status.ts'
import { HOSTNAME_ANNOTATION } from './kinds.ts'

export interface ServiceHosts {
  readonly hosts: readonly DnsHost[]
  readonly skipped: readonly { readonly service: KubeObject; readonly finding: Finding }[]
}

export function serviceHosts(services: readonly KubeObject[]): ServiceHosts {
  const names = new Map<string, Set<string>>()
  const skipped: ServiceHosts['skipped'][number][] = []
  for (const service of services.filter(isRegistered)) {
    for (const { ip = '', hostname } of ingressOf(service)) {
      const address = parseAddress(ip)
      if (!address) {
        const facts = { service: keyOf(service.metadata), hostname: hostname ?? ip }
        skipped.push({ service, finding: finding(ingressWithoutAddress, facts) })
        continue
      }
      const text = formatAddress(address)
      const all = names.get(text) ?? new Set<string>()
      for (const name of hostnamesOf(service)) all.add(name)
      names.set(text, all)
    }
  }
  const hosts = [...names].map(([ip, all]) => ({ ip, hostnames: [...all].sort() }))
  return { hosts: hosts.sort(byAddress), skipped }
}

function isRegistered(service: KubeObject): boolean {
  return isLoadBalancer(service) && !service.metadata.deletionTimestamp && hostnamesOf(service).length > 0
}

/** Upstream knows one name; several are written with commas or spaces. */
function hostnamesOf({ metadata }: KubeObject): readonly string[] {
  return (metadata.annotations?.[HOSTNAME_ANNOTATION] ?? '').split(/[\s,]+/).filter(Boolean)
}

function byAddress(a: DnsHost, b: DnsHost): number {
  const [one, other] = [parseAddress(a.ip), parseAddress(b.ip)]
  return one && other ? compareAddresses(one, other) : 0
}
