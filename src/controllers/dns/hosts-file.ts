/**
 * Hosts as text: what a DNSData's ConfigMap says, and what a hosts file says.
 *
 * Pure. One line per host, `address name name …`; text that is no address is kept where it was written.
 */
import type { DnsData } from '../../api/dnsdata.ts'
import { formatAddress, parseAddress } from '../../net/address.ts'

/** One line of a hosts file. */
export interface HostLine {
  /** In its canonical form where it is an address; else as it was written. */
  readonly ip: string
  readonly names: readonly string[]
  readonly usable: boolean
}

/** What a ConfigMap holds with room for its metadata; the API server takes a mebibyte. */
export const CONFIG_MAP_BYTES = 1_000_000

/** The text of a DNSData's ConfigMap, word for word as upstream writes it. */
export function formatHosts({ spec }: Pick<DnsData, 'spec'>): string {
  return (spec.hosts ?? []).map(({ ip, hostnames }) => `${ip} ${[...hostnames].sort().join(' ')}\n`).join('')
}

/** A text in parts that a ConfigMap holds each, at line ends. */
export function splitHosts(text: string, most = CONFIG_MAP_BYTES): readonly string[] {
  if (Buffer.byteLength(text) <= most) return [text]
  const parts: string[] = []
  let lines: string[] = []
  let size = 0
  for (const line of text.split(/(?<=\n)/)) {
    const bytes = Buffer.byteLength(line)
    if (size + bytes > most && lines.length > 0) {
      parts.push(lines.join(''))
      lines = []
      size = 0
    }
    lines.push(line)
    size += bytes
  }
  return [...parts, lines.join('')]
}

/** The lines of a hosts file, without comments and without lines that name nobody. */
export function parseHosts(text: string): readonly HostLine[] {
  return text.split('\n').flatMap((line): readonly HostLine[] => {
    const [first, ...names] = line.replace(/#.*$/, '').split(/\s+/).filter(Boolean)
    if (first === undefined || names.length === 0) return []
    const address = parseAddress(first)
    return [{ ip: address ? formatAddress(address) : first, names, usable: address !== undefined }]
  })
}

/** The texts of a DNSData that are no addresses. */
export function findInvalidAddresses({ spec }: Pick<DnsData, 'spec'>): readonly string[] {
  return (spec.hosts ?? []).flatMap(({ ip }) => (parseAddress(ip) ? [] : [ip]))
}
