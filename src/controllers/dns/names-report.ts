/** Reports the names that DNSMasqs serve: addresses, sources, and the answers of the server where it was queried. Pure. */

import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import { wrongDnsAnswer } from './findings.ts'
import { collectHostSources, parseHosts } from './hosts-file.ts'

export interface ServedName {
  readonly name: string
  readonly addresses: readonly string[]
  /** `DNSData dns-svc`. */
  readonly from: readonly string[]
  /** What the server answers; absent when it was not queried. */
  readonly answered?: readonly string[]
}

export interface ServerReport {
  readonly namespace: string
  readonly name: string
  readonly servers: readonly string[]
  readonly ready: boolean
  readonly names: readonly ServedName[]
  /** Lines that do not start with an address. */
  readonly unusable: readonly { readonly text: string; readonly from: string }[]
}

export interface DnsObjects {
  readonly dnsMasqs: readonly DnsMasq[]
  readonly dnsDatas: readonly DnsData[]
  /** Those with the hosts label. */
  readonly configMaps: readonly KubeObject[]
}

export function buildDnsReport(objects: DnsObjects): readonly ServerReport[] {
  return objects.dnsMasqs.map((dnsMasq) => {
    const { namespace = '', name } = dnsMasq.metadata
    const isHere = (object: KubeObject): boolean => object.metadata.namespace === namespace
    const sources = collectHostSources(dnsMasq, {
      dnsDatas: objects.dnsDatas.filter(isHere),
      configMaps: objects.configMaps.filter(isHere),
    })
    const lines = sources.flatMap(({ name: from, text }) => parseHosts(text).map((line) => ({ ...line, from })))
    const ready = dnsMasq.status?.conditions?.some(
      (condition) => condition.type === 'Ready' && condition.status === 'True',
    )
    return {
      namespace,
      name,
      servers: dnsMasq.status?.dnsAddresses ?? [],
      ready: ready ?? false,
      names: groupByName(lines.filter((line) => line.usable)),
      unusable: lines.filter((line) => !line.usable).map(({ ip, from }) => ({ text: ip, from })),
    }
  })
}

interface Line {
  readonly ip: string
  readonly names: readonly string[]
  readonly from: string
}

function groupByName(lines: readonly Line[]): readonly ServedName[] {
  const found = new Map<string, { readonly addresses: Set<string>; readonly from: Set<string> }>()
  for (const { ip, names, from } of lines) {
    for (const name of names) {
      const known = found.get(name) ?? { addresses: new Set(), from: new Set() }
      known.addresses.add(ip)
      known.from.add(from)
      found.set(name, known)
    }
  }
  return [...found]
    .map(([name, { addresses, from }]) => ({ name, addresses: [...addresses].sort(), from: [...from] }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Whether the server was queried for the name and answered something else. */
export function hasWrongAnswer({ addresses, answered }: ServedName): boolean {
  return answered !== undefined && [...answered].sort().join() !== [...addresses].sort().join()
}

export function findWrongAnswers(
  { servers, names }: ServerReport,
  queried: string = servers[0] ?? '',
): readonly Finding[] {
  return names
    .filter(hasWrongAnswer)
    .map(({ name, addresses, answered = [] }) =>
      finding(wrongDnsAnswer, { name, server: queried, wanted: addresses, answered }),
    )
}

/** A blank or a line break in a name would add other names to /etc/hosts. */
const HOST_NAME = /^[\w.-]+$/

/** A hosts file with one line per address. Names that are no host names are left out. */
export function formatHostsFile(names: readonly { readonly name: string; readonly address: string }[]): string {
  const lines = new Map<string, Set<string>>()
  for (const { name, address } of names) {
    if (!HOST_NAME.test(name) || !parseAddress(address)) continue
    lines.set(address, (lines.get(address) ?? new Set()).add(name))
  }
  return [...lines].map(([address, all]) => `${address} ${[...all].join(' ')}\n`).join('')
}
