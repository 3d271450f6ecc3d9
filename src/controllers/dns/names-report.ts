/** Every name that DNSMasqs serve: its address, where it comes from, and what the server answered if it was asked. Pure. */
import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { wrongDnsAnswer } from './findings.ts'
import { collectHostSources } from './host-sources.ts'
import { parseHosts } from './hosts-file.ts'

export interface ServedName {
  readonly name: string
  readonly addresses: readonly string[]
  /** `DNSData dns-svc`. */
  readonly from: readonly string[]
  /** What the server answers; absent when it was not asked. */
  readonly answered?: readonly string[]
}

export interface ServerReport {
  readonly namespace: string
  readonly name: string
  readonly servers: readonly string[]
  readonly ready: boolean
  readonly names: readonly ServedName[]
  /** Lines whose first word is no address. */
  readonly unusable: readonly { readonly text: string; readonly from: string }[]
}

export interface DnsObjects {
  readonly dnsMasqs: readonly DnsMasq[]
  readonly dnsDatas: readonly DnsData[]
  /** Those with the label of hosts. */
  readonly configMaps: readonly KubeObject[]
}

export function buildDnsReport(objects: DnsObjects): readonly ServerReport[] {
  return objects.dnsMasqs.map((dnsMasq) => {
    const { namespace = '', name } = dnsMasq.metadata
    const here = (one: KubeObject): boolean => one.metadata.namespace === namespace
    const sources = collectHostSources(dnsMasq, {
      dnsDatas: objects.dnsDatas.filter(here),
      configMaps: objects.configMaps.filter(here),
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

/** Whether a name was asked for and answered with something else. */
export function hasWrongAnswer({ addresses, answered }: ServedName): boolean {
  return answered !== undefined && [...answered].sort().join() !== [...addresses].sort().join()
}

export function findWrongAnswers(
  { servers, names }: ServerReport,
  asked: string = servers[0] ?? '',
): readonly Finding[] {
  return names
    .filter(hasWrongAnswer)
    .map(({ name, addresses, answered = [] }) =>
      finding(wrongDnsAnswer, { name, server: asked, wanted: addresses, answered }),
    )
}

/** A hosts file: one line per address, all its names behind it. */
export function formatHostsFile(names: readonly { readonly name: string; readonly address: string }[]): string {
  const lines = new Map<string, Set<string>>()
  for (const { name, address } of names) lines.set(address, (lines.get(address) ?? new Set()).add(name))
  return [...lines].map(([address, all]) => `${address} ${[...all].join(' ')}\n`).join('')
}
