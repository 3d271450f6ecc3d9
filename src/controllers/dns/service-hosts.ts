/**
 * The hosts of LoadBalancer Services that ask to be registered, for the DNSMasqs of their namespace. Pure.
 *
 * One address has all names of all Services that share it, as upstream writes it; one Service that cannot be
 * registered does not keep the others from it.
 */
import type { DnsHost } from '../../api/dnsdata.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { compareAddresses, formatAddress, parseAddress } from '../../net/address.ts'
import { HOSTNAME_ANNOTATION } from './dns-kinds.ts'
import { isLoadBalancer, serviceIngress } from './dnsmasq-status.ts'
import { ingressWithoutAddress } from './findings.ts'

export interface ServiceHosts {
  readonly hosts: readonly DnsHost[]
  readonly skipped: readonly { readonly service: KubeObject; readonly finding: Finding }[]
}

export function hostsForServices(services: readonly KubeObject[]): ServiceHosts {
  const names = new Map<string, Set<string>>()
  const skipped: ServiceHosts['skipped'][number][] = []
  for (const service of services.filter(isDnsRequested)) {
    for (const { ip = '', hostname } of serviceIngress(service)) {
      const address = parseAddress(ip)
      if (!address) {
        const facts = { service: objectKey(service.metadata), hostname: hostname ?? ip }
        skipped.push({ service, finding: finding(ingressWithoutAddress, facts) })
        continue
      }
      const text = formatAddress(address)
      const all = names.get(text) ?? new Set<string>()
      for (const name of requestedHostnames(service)) all.add(name)
      names.set(text, all)
    }
  }
  const hosts = [...names].map(([ip, all]) => ({ ip, hostnames: [...all].sort() }))
  return { hosts: hosts.sort(byAddress), skipped }
}

function isDnsRequested(service: KubeObject): boolean {
  return isLoadBalancer(service) && !service.metadata.deletionTimestamp && requestedHostnames(service).length > 0
}

/** Upstream knows one name; several are written with commas or spaces. */
function requestedHostnames({ metadata }: KubeObject): readonly string[] {
  return (metadata.annotations?.[HOSTNAME_ANNOTATION] ?? '').split(/[\s,]+/).filter(Boolean)
}

function byAddress(a: DnsHost, b: DnsHost): number {
  const [one, other] = [parseAddress(a.ip), parseAddress(b.ip)]
  return one && other ? compareAddresses(one, other) : 0
}
