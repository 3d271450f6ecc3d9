/** Builds DNSMasqs and DNSData for tests, based on infra-operator's conformance list. */
import type { DnsData, DnsHost } from '../src/api/dnsdata.ts'
import type { DnsMasq, DnsMasqSpec } from '../src/api/dnsmasq.ts'
import { dnsDatas, dnsMasqs } from '../src/controllers/dns/dns-kinds.ts'

export function dnsMasq(name: string, namespace = 'ns', spec: Partial<DnsMasqSpec> = {}): DnsMasq {
  return {
    ...dnsMasqs,
    metadata: { name, namespace },
    spec: {
      options: [{ key: 'no-negcache', values: [] }],
      containerImage: 'test-dnsmasq-container-image',
      ...spec,
    },
  }
}

export function dnsData(name: string, hosts: readonly DnsHost[], namespace = 'ns', selector = 'dnsdata'): DnsData {
  return {
    ...dnsDatas,
    metadata: { name, namespace },
    spec: { dnsDataLabelSelectorValue: selector, hosts: [...hosts] },
  }
}

export function host(ip: string, ...hostnames: string[]): DnsHost {
  return { ip, hostnames }
}

/** The example of the 2023 design, with its spelling. */
export const someHosts: readonly DnsHost[] = [0, 1].flatMap((node) =>
  [
    ['192.168.122', 'ctlplane'],
    ['172.17.0', 'internalapi'],
    ['172.18.0', 'storge'],
    ['172.19.0', 'tenant'],
  ].map(([net, network]) => host(`${net}.${100 + node}`, `edpm-compute-${node}.${network}`)),
)
