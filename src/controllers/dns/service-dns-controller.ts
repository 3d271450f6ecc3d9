/** Registers LoadBalancer Services that request it: each DNSMasq gets the DNSData `<name>-svc` with their names. */
import type { DnsData, DnsHost } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { CacheReader } from '../../kube/cache.ts'
import type { Controller } from '../../kube/controller.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { SharedCache } from '../../kube/runtime.ts'
import { compareAddresses, formatAddress, parseAddress } from '../../net/address.ts'
import { tryOwnedWrite } from '../kit/ownership.ts'
import { requeueOnConflict, type Writer } from '../kit/writes.ts'
import {
  dnsDatas as dnsDataKind,
  dnsMasqKeysIn,
  dnsMasqs as dnsMasqKind,
  HOSTNAME_ANNOTATION,
  selectorValue,
  services as serviceKind,
} from './dns-kinds.ts'
import { isLoadBalancer, serviceIngress } from './dnsmasq-status.ts'
import { ingressWithoutAddress } from './findings.ts'
import { buildDnsData, ensureDnsData } from './owned-objects.ts'

export interface ServiceDnsControllerDeps {
  readonly writer: Writer
  readonly dnsMasqs: CacheReader<DnsMasq>
  readonly dnsDatas: SharedCache<DnsData>
  readonly services: CacheReader
  readonly record: (event: EventRecord) => void
}

export function serviceDnsController(deps: ServiceDnsControllerDeps): Controller {
  const { writer, dnsMasqs, dnsDatas, services, record } = deps
  return {
    name: 'dns-service',
    workers: 4,
    watches: [
      { kind: dnsMasqKind },
      { kind: serviceKind, map: ({ metadata }) => dnsMasqKeysIn(dnsMasqs, metadata.namespace) },
      { kind: dnsDataKind, map: dnsMasqForServices },
    ],
    reconcile: requeueOnConflict(async (request, { signal }) => {
      const dnsMasq = dnsMasqs.get(objectKey(request))
      if (!dnsMasq || dnsMasq.metadata.deletionTimestamp) return undefined
      const { namespace = '' } = dnsMasq.metadata
      const { hosts, skipped } = hostsForServices(services.list(namespace))
      for (const { service, finding: cause } of skipped) {
        const note = `${cause.code}: ${cause.message}. ${cause.remedy}`
        const reasons = { type: 'Warning', reason: 'NotRegistered', action: 'RegisterName' } as const
        record({ regarding: service, related: dnsMasq, ...reasons, note })
      }
      // The status of the DNSMasq names a DNSData that is in the way.
      await tryOwnedWrite(ensureDnsData(writer, dnsDatas, serviceDnsData(dnsMasq, hosts), signal))
      return undefined
    }),
  }
}

const SUFFIX = '-svc'

export function serviceDnsData(dnsMasq: DnsMasq, hosts: readonly DnsHost[]): DnsData {
  return buildDnsData(dnsMasq, `${dnsMasq.metadata.name}${SUFFIX}`, selectorValue(dnsMasq.spec), hosts)
}

/** The key of the DNSMasq that needs the name of this DNSData, whatever owns it. */
export function dnsMasqForServices({ metadata }: KubeObject): readonly string[] {
  const { namespace = '', name } = metadata
  return name.endsWith(SUFFIX) ? [objectKey({ namespace, name: name.slice(0, -SUFFIX.length) })] : []
}

export interface ServiceHosts {
  readonly hosts: readonly DnsHost[]
  readonly skipped: readonly { readonly service: KubeObject; readonly finding: Finding }[]
}

/** One entry per address with the names of all Services that share it. A Service without an address is skipped. */
export function hostsForServices(services: readonly KubeObject[]): ServiceHosts {
  const namesByAddress = new Map<string, Set<string>>()
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
      const names = namesByAddress.get(text) ?? new Set<string>()
      for (const name of requestedHostnames(service)) names.add(name)
      namesByAddress.set(text, names)
    }
  }
  const hosts = [...namesByAddress].map(([ip, names]) => ({ ip, hostnames: [...names].sort() }))
  return { hosts: hosts.sort(compareHosts), skipped }
}

function isDnsRequested(service: KubeObject): boolean {
  return isLoadBalancer(service) && !service.metadata.deletionTimestamp && requestedHostnames(service).length > 0
}

/** Upstream supports one name; several are separated by commas or spaces. */
function requestedHostnames({ metadata }: KubeObject): readonly string[] {
  return (metadata.annotations?.[HOSTNAME_ANNOTATION] ?? '').split(/[\s,]+/).filter(Boolean)
}

function compareHosts(a: DnsHost, b: DnsHost): number {
  const [first, second] = [parseAddress(a.ip), parseAddress(b.ip)]
  return first && second ? compareAddresses(first, second) : 0
}
