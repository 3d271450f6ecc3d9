/**
 * Formats and parses hosts as text, one line per host (`address name name …`), and collects what a DNSMasq serves.
 *
 * Pure. Text that is not an address is kept in the ConfigMap where it was written, and never served.
 */
import type { DnsData } from '../../api/dnsdata.ts'
import type { DnsMasq } from '../../api/dnsmasq.ts'
import type { KubeObject } from '../../api/object.ts'
import { findController } from '../../api/ownership.ts'
import { formatAddress, parseAddress } from '../../net/address.ts'
import { HOSTS_LABEL, selectorValue } from './dns-kinds.ts'
import type { HostSource } from './shards.ts'

/** What fits in a ConfigMap beside its metadata; the API server accepts a mebibyte. */
export const CONFIG_MAP_BYTES = 1_000_000

/** The text of the ConfigMap of a DNSData, exactly as upstream writes it. */
export function formatHosts({ spec }: Pick<DnsData, 'spec'>): string {
  return (spec.hosts ?? []).map(({ ip, hostnames }) => `${ip} ${[...hostnames].sort().join(' ')}\n`).join('')
}

/** Splits text at line ends into parts that each fit in a ConfigMap. */
export function splitHosts(text: string, maxBytes = CONFIG_MAP_BYTES): readonly string[] {
  if (Buffer.byteLength(text) <= maxBytes) return [text]
  const parts: string[] = []
  let lines: string[] = []
  let size = 0
  for (const line of text.split(/(?<=\n)/)) {
    const bytes = Buffer.byteLength(line)
    if (size + bytes > maxBytes && lines.length > 0) {
      parts.push(lines.join(''))
      lines = []
      size = 0
    }
    lines.push(line)
    size += bytes
  }
  return [...parts, lines.join('')]
}

export interface HostLine {
  /** In canonical form if it is an address, else as written. */
  readonly ip: string
  readonly names: readonly string[]
  readonly usable: boolean
}

/** The lines of a hosts file, without comments and lines without names. */
export function parseHosts(text: string): readonly HostLine[] {
  return text.split('\n').flatMap((line): readonly HostLine[] => {
    const [first, ...names] = (line.split('#', 1)[0] ?? '').split(/\s+/).filter(Boolean)
    if (first === undefined || names.length === 0) return []
    const address = parseAddress(first)
    return [{ ip: address ? formatAddress(address) : first, names, usable: address !== undefined }]
  })
}

export function findInvalidAddresses({ spec }: Pick<DnsData, 'spec'>): readonly string[] {
  return (spec.hosts ?? []).flatMap(({ ip }) => (parseAddress(ip) ? [] : [ip]))
}

export interface NamespaceHosts {
  readonly dnsDatas: readonly DnsData[]
  /** Those with the hosts label. */
  readonly configMaps: readonly KubeObject[]
}

/**
 * The texts that a DNSMasq serves: DNSData, and labelled ConfigMaps that no DNSData owns. A DNSData is read directly and
 * not through its ConfigMap, so that a change is one write away from the server.
 */
export function collectHostSources(
  { spec }: Pick<DnsMasq, 'spec'>,
  { dnsDatas, configMaps }: NamespaceHosts,
  format: (dnsData: DnsData) => string = formatHosts,
): readonly HostSource[] {
  const selector = selectorValue(spec)
  const served = dnsDatas.filter(
    (dnsData) => selectorValue(dnsData.spec) === selector && !dnsData.metadata.deletionTimestamp,
  )
  const labelled = configMaps.filter((configMap) => isServedConfigMap({ spec }, configMap))
  return [
    ...served.map((dnsData) => ({ name: `DNSData ${dnsData.metadata.name}`, text: format(dnsData) })),
    ...labelled.map((configMap) => ({ name: `ConfigMap ${configMap.metadata.name}`, text: configMapText(configMap) })),
  ]
}

/** Decides by metadata alone. */
export function isServedConfigMap({ spec }: Pick<DnsMasq, 'spec'>, configMap: KubeObject): boolean {
  const isCopy = findController(configMap)?.kind === 'DNSData'
  return configMap.metadata.labels?.[HOSTS_LABEL] === selectorValue(spec) && !isCopy
}

/** Every key of the ConfigMap is a hosts file; upstream reads only the key with the ConfigMap's name. */
function configMapText(configMap: KubeObject): string {
  const data = (configMap['data'] ?? {}) as Readonly<Record<string, string>>
  const binary = (configMap['binaryData'] ?? {}) as Readonly<Record<string, string>>
  const decoded = Object.entries(binary).map(
    ([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')] as const,
  )
  return [...Object.entries(data), ...decoded]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => (text.endsWith('\n') ? text : `${text}\n`))
    .join('')
}
