/**
 * Plans the control plane networks of several environment files: usually one subnet and one bridge for all of them.
 *
 * What a file sets (the pool) stays. The ranges that install_yamls gives to every cloud (pods, hosts) stay with the
 * first cloud; the others get free ones.
 */
import type { SiteFileCloud, SiteFileNetwork } from '../../api/site.ts'
import { parseAddress } from '../../net/address.ts'
import { type Cidr, cidr, cidrContains, usableRange } from '../../net/cidr.ts'
import { formatRange, parseRange, type Range, rangeSize, rangesOverlap, singleAddressRange } from '../../net/range.ts'
import { freeRanges, rangeSet } from '../../net/range-set.ts'
import { type EnvCloud, formatSpan, ipv6Base } from './env-file.ts'
import { ctlplaneSpans } from './install-yamls-defaults.ts'

export interface CtlplaneNetwork {
  readonly subnets: NonNullable<SiteFileNetwork['subnets']>
  /** The earlier cloud that is in the same subnet, and what this one got instead of the same ranges. */
  readonly shared?: { readonly first: string; readonly cidr: string; readonly spans: readonly string[] }
  /** NetConfig's ranges that the pool lies on, and one of the same size that is free. */
  readonly clash?: { readonly pool: string; readonly hosts: string; readonly free: string | undefined }
}

const PODS = 20n
const HOSTS = 30n

export function planCtlplanes(
  clouds: readonly EnvCloud[],
  existing: readonly SiteFileCloud[] = [],
): readonly CtlplaneNetwork[] {
  const planned: CtlplaneNetwork[] = []
  const taken = new Map<string, Range[]>()
  const pools = new Map<string, Range[]>()
  const owners = new Map<string, string>()
  for (const cloud of existing) {
    for (const { cidr: key, spans } of ctlplaneSubnets(cloud)) {
      owners.set(key, owners.get(key) ?? cloud.name)
      add(taken, key, ...rangesOf([spans?.nodes, spans?.pods, spans?.hosts].flatMap(texts)))
      add(pools, key, ...rangesOf(texts(spans?.vips)))
    }
  }
  // All pools must be known before free ranges are assigned.
  for (const cloud of clouds) {
    const pool = parseRange(cloud.env.range('METALLB_POOL'))
    if (pool && cloud.families.includes(4)) add(pools, cidrTextOf(cloud), pool)
  }
  clouds.forEach((cloud, index) => {
    const subnets: NonNullable<SiteFileNetwork['subnets']> = []
    let rest: Omit<CtlplaneNetwork, 'subnets'> = {}
    if (cloud.families.includes(4)) {
      const key = cidrTextOf(cloud)
      const first = clouds.slice(0, index).find((other) => other.families.includes(4) && cidrTextOf(other) === key)
      const owner = owners.get(key) ?? first?.name
      const { subnet, ranges, hosts, spans } =
        owner === undefined ? firstCloud(cloud, key) : furtherCloud(cloud, key, taken, pools)
      add(taken, key, ...ranges)
      const clash = clashOf(cloud, key, [...hosts, ...hostRangesOf(first)], taken, pools)
      rest = {
        ...(owner !== undefined && { shared: { first: owner, cidr: key, spans } }),
        ...(clash && { clash }),
      }
      subnets.push(subnet)
    }
    if (cloud.families.includes(6)) subnets.push(ipv6Subnet(cloud, index + existing.length))
    planned.push({ subnets, ...rest })
  })
  return planned
}

/** The subnets of ctlplane that a site file pins. */
function ctlplaneSubnets({ networks }: SiteFileCloud): readonly Subnet[] {
  const ctlplane = networks?.['ctlplane']
  return (ctlplane && ctlplane.subnets) || []
}

function texts(span: string | readonly string[] | undefined): readonly string[] {
  return span === undefined ? [] : [span].flat()
}

function cidrTextOf({ env }: EnvCloud): string {
  return `${env.prefix('NNCP_CTLPLANE_IP_ADDRESS_PREFIX')}.0/24`
}

function add(map: Map<string, Range[]>, key: string, ...ranges: readonly Range[]): void {
  map.set(key, [...(map.get(key) ?? []), ...ranges])
}

type Subnet = NonNullable<SiteFileNetwork['subnets']>[number]

interface PlannedSubnet {
  readonly subnet: Subnet
  readonly ranges: readonly Range[]
  readonly hosts: readonly Range[]
  /** A description of what it has instead of upstream's ranges. */
  readonly spans: readonly string[]
}

function firstCloud(cloud: EnvCloud, key: string): PlannedSubnet {
  const base = key.replace(/0\/24$/, '')
  const suffix = cloud.env.number('NNCP_CTLPLANE_IP_ADDRESS_SUFFIX')
  const nodes = formatSpan(base, `${suffix}-${Math.max(suffix, ctlplaneSpans.lastNode)}`)
  const hosts = ctlplaneSpans.hosts.map((offsets) => formatSpan(base, offsets))
  const pods = formatSpan(base, ctlplaneSpans.pods[0])
  const vips = cloud.env.range('METALLB_POOL')
  return {
    subnet: { cidr: key, ...gatewayOf(cloud, cidr(key)), spans: { nodes, pods, vips, hosts } },
    ranges: rangesOf([nodes, pods, ...hosts]),
    hosts: rangesOf(hosts),
    spans: [],
  }
}

function furtherCloud(
  cloud: EnvCloud,
  key: string,
  taken: ReadonlyMap<string, readonly Range[]>,
  pools: ReadonlyMap<string, readonly Range[]>,
): PlannedSubnet {
  const vips = cloud.env.range('METALLB_POOL')
  const gateway = gatewayOf(cloud, cidr(key))
  const held = [...(taken.get(key) ?? []), ...(pools.get(key) ?? []), ...rangesOf(Object.values(gateway))]
  const largest = [...freeRanges(usableRange(cidr(key)), rangeSet(held))].sort((a, b) =>
    Number(rangeSize(b) - rangeSize(a)),
  )[0]
  const pods = largest && firstOf(largest, PODS)
  const left = largest && pods && { ...largest, first: pods.last + 1n }
  const hosts = left && left.first <= left.last ? firstOf(left, HOSTS) : undefined
  const spans = {
    ...(pods && { pods: formatRange(pods) }),
    vips,
    ...(hosts && { hosts: formatRange(hosts) }),
  }
  const words = [pods ? `pods ${formatRange(pods)}` : 'no pods', hosts ? `hosts ${formatRange(hosts)}` : 'no hosts']
  return {
    subnet: { cidr: key, ...gateway, spans },
    ranges: [...(pods ? [pods] : []), ...(hosts ? [hosts] : [])],
    hosts: hosts ? [hosts] : [],
    spans: words,
  }
}

/** At most half of a range, so that something is left for the next cloud. */
function firstOf(range: Range, most: bigint): Range {
  const half = (rangeSize(range) + 1n) / 2n
  const size = most < half ? most : half
  return { ...range, last: range.first + size - 1n }
}

function gatewayOf({ env }: EnvCloud, network: Cidr): { readonly gateway?: string } {
  const gateway = env.address('NNCP_GATEWAY')
  const address = parseAddress(gateway)
  return address && cidrContains(network, address) ? { gateway } : {}
}

function hostRangesOf(cloud: EnvCloud | undefined): readonly Range[] {
  if (!cloud) return []
  const base = `${cloud.env.prefix('NNCP_CTLPLANE_IP_ADDRESS_PREFIX')}.`
  return rangesOf(ctlplaneSpans.hosts.map((offsets) => formatSpan(base, offsets)))
}

function clashOf(
  cloud: EnvCloud,
  key: string,
  hosts: readonly Range[],
  taken: ReadonlyMap<string, readonly Range[]>,
  pools: ReadonlyMap<string, readonly Range[]>,
): CtlplaneNetwork['clash'] {
  const text = cloud.env.range('METALLB_POOL')
  const pool = parseRange(text)
  const under = pool && hosts.find((range) => rangesOverlap(range, pool))
  if (!pool || !under) return undefined
  const network = cidr(key)
  const gateway = rangesOf(Object.values(gatewayOf(cloud, network)))
  const held = rangeSet([...(taken.get(key) ?? []), ...(pools.get(key) ?? []), ...gateway])
  const free = freeRanges(usableRange(network), held).find((gap) => rangeSize(gap) >= rangeSize(pool))
  return {
    pool: text,
    hosts: formatRange(under),
    free: free && formatRange({ ...free, last: free.first + rangeSize(pool) - 1n }),
  }
}

function ipv6Subnet(cloud: EnvCloud, index: number): Subnet {
  const { env } = cloud
  const base = ipv6Base(env.text('NNCP_CTLPLANE_IPV6_ADDRESS_PREFIX'), index)
  const network = cidr(`${base}/64`)
  const gateway = env.address('NNCP_GATEWAY_IPV6')
  const address = parseAddress(gateway)
  const suffix = env.text('NNCP_CTLPLANE_IPV6_ADDRESS_SUFFIX')
  const vips = env.sets('METALLB_IPV6_POOL') ? env.range('METALLB_IPV6_POOL') : formatSpan(base, '80-90')
  return {
    cidr: `${base}/64`,
    ...(address && cidrContains(network, address) && { gateway }),
    spans: {
      nodes: formatSpan(base, `${suffix}-29`),
      pods: formatSpan(base, '30-70'),
      vips,
      hosts: [formatSpan(base, '100-120'), formatSpan(base, '200-250')],
    },
  }
}

function rangesOf(texts: readonly string[]): readonly Range[] {
  return texts.flatMap((text) => {
    const address = parseAddress(text)
    return address ? [singleAddressRange(address)] : (parseRange(text) ?? [])
  })
}
