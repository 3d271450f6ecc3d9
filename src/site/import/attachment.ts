/** Reads the CNI configuration of a network attachment: what a plan needs of it. */
import { asList, asString, isRecord } from '../../api/json.ts'
import { formatAddress } from '../../net/address.ts'
import { cidrContaining, formatCidr, parsePrefixed, usableRange } from '../../net/cidr.ts'
import { formatRange, parseRange } from '../../net/range.ts'
import { formatUnread, trackReads } from './read-tracker.ts'

/** One range of an attachment, from which pods get addresses. */
export interface PodFacts {
  readonly cidr: string
  readonly span: string
  readonly reserved: readonly string[]
}

export interface Attachment {
  readonly attach: 'macvlan' | 'bridge' | 'none'
  /** The interface or bridge that pods are put on. */
  readonly master: string | undefined
  readonly mtu: number | undefined
  readonly pods: readonly PodFacts[]
  readonly routes: readonly { readonly destination: string; readonly nexthop: string }[]
  /** Why it has no span. */
  readonly problem?: string
}

/** The attachment, and the fields of its configuration that a plan cannot hold. */
export function importAttachment(config: unknown): {
  readonly read: Attachment | string
  readonly unread: readonly string[]
} {
  const { value, unread } = trackReads(typeof config === 'string' ? parseJson(config) : config)
  const read = readAttachment(value)
  // The version is the one of the rendered configuration, and the name is that of its network.
  const isImplied = (name: string): boolean => name === 'cniVersion' || name === 'name' || name === 'network_name'
  const groups = unread().map((group) => ({ ...group, names: group.names.filter((name) => !isImplied(name)) }))
  return { read, unread: groups.filter(({ names }) => names.length > 0).map(formatUnread) }
}

/** `config` is JSON text, or the mapping that some files have instead. */
export function readAttachment(config: unknown): Attachment | string {
  const value = typeof config === 'string' ? parseJson(config) : config
  if (!isRecord(value)) return 'its configuration is not JSON'
  // In a chain of plugins the first one creates the interface.
  const plugin = Array.isArray(value['plugins']) ? (value['plugins'] as unknown[])[0] : value
  if (!isRecord(plugin)) return 'its list of plugins is empty'
  const { type, master, bridge, mtu, ipam } = plugin
  const attach = type === 'macvlan' || type === 'bridge' ? type : 'none'
  const on = attach === 'bridge' ? bridge : master
  const read = isRecord(ipam) ? readIpam(ipam) : { pods: [], routes: [] }
  return {
    attach,
    master: typeof on === 'string' ? on : undefined,
    mtu: typeof mtu === 'number' ? mtu : undefined,
    ...read,
    ...(attach === 'none' && {
      problem: `its type is ${asString(type) ?? 'not given'}, not macvlan or bridge`,
    }),
  }
}

type Ipam = Pick<Attachment, 'pods' | 'routes' | 'problem'>

function readIpam(ipam: Readonly<Record<string, unknown>>): Ipam {
  const routes = asList(ipam['routes']).flatMap((route) => {
    const { dst, gw } = isRecord(route) ? route : {}
    return typeof dst === 'string' && typeof gw === 'string' ? [{ destination: dst, nexthop: gw }] : []
  })
  const manager = asString(ipam['type'])
  if (manager === undefined) return { pods: [], routes }
  if (manager !== 'whereabouts') {
    return {
      pods: [],
      routes,
      problem: `its addresses are managed by ${manager}, not by whereabouts`,
    }
  }
  const ranges = [ipam, ...asList(ipam['ipRanges'])].filter(isRecord)
  return { pods: ranges.flatMap((range) => podsOf(range) ?? []), routes }
}

/** `range` is a prefix, or a range and a prefix length in one (`10.0.0.5-10.0.0.9/24`). */
function podsOf(ipam: Readonly<Record<string, unknown>>): PodFacts | undefined {
  const { range, range_start: start, range_end: end, exclude } = ipam
  if (typeof range !== 'string') return undefined
  const [, from, to = range] = /^([^-/]+)-(.+)$/.exec(range) ?? []
  const prefixed = parsePrefixed(to)
  if (!prefixed) return { cidr: range, span: range, reserved: [] }
  const network = cidrContaining(prefixed.address, prefixed.prefix)
  const whole = usableRange(network)
  const first =
    typeof start === 'string' ? start : (from ?? formatAddress({ family: whole.family, value: whole.first }))
  const last =
    typeof end === 'string'
      ? end
      : from === undefined
        ? formatAddress({ family: whole.family, value: whole.last })
        : formatAddress(prefixed.address)
  return {
    cidr: formatCidr(network),
    span: `${first}-${last}`,
    // `exclude` holds prefixes, `/32` for one address.
    reserved: asList(exclude).flatMap((prefix) => (typeof prefix === 'string' ? [asRange(prefix)] : [])),
  }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** A pool may be given as a prefix; a span is written as a range. */
export function asRange(text: string): string {
  const range = parseRange(text)
  return range ? formatRange(range) : text
}
