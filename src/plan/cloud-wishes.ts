/**
 * What each cloud asks for beside its networks: hosts with their pins, and pinned VIPs.
 *
 * Nothing is chosen here.
 */
import type { Address } from '../net/address.ts'
import type { Cloud, Path } from '../site/site.ts'
import type { AddressReader } from './address-reader.ts'
import type { CloudService } from './slots/cloud-services.ts'
import type { SlotUse } from './slots/slots.ts'

export interface HostRequest {
  readonly name: string
  /** Undefined: every network that has a hosts span. */
  readonly networks: ReadonlySet<string> | undefined
  readonly path: Path
}

/** A host, and where it is pinned to on one network. */
export interface HostPin {
  readonly name: string
  readonly addresses: readonly Address[]
}

export interface CloudRequest {
  readonly cloud: Cloud
  readonly hosts: readonly HostRequest[]
  /** Everybody's name, when everybody is on every network: the usual case. */
  readonly everybody: readonly string[] | undefined
  /** Pinned addresses of hosts, by network. */
  readonly pins: ReadonlyMap<string, readonly HostPin[]>
  /** Pinned addresses, by slot. */
  readonly pinnedVips: ReadonlyMap<string, readonly Address[]>
  readonly services: readonly CloudService[]
  readonly uses: readonly SlotUse[]
}

export function readCloudRequest(
  cloud: Cloud,
  { services, uses }: Pick<CloudRequest, 'services' | 'uses'>,
  reader: AddressReader,
): CloudRequest {
  const hosts = (cloud.file.hosts ?? []).map((host, index): HostRequest => {
    const networks = host.networks && new Set(host.networks)
    return { name: host.name, networks, path: [...cloud.path, 'hosts', index] }
  })
  const pinnedVips = Object.entries(cloud.file.vips ?? {}).map(([slot, text]) => {
    const path = [...cloud.path, 'vips', slot]
    return [slot, reader.addresses(text, { owner: cloud.name, what: `VIP of ${slot}`, path })] as const
  })
  const alike = hosts.every((host) => host.networks === undefined)
  const everybody = alike ? hosts.map(({ name }) => name) : undefined
  return {
    cloud,
    hosts,
    everybody,
    pins: readHostPins(cloud, reader),
    pinnedVips: new Map(pinnedVips),
    services,
    uses,
  }
}

function readHostPins(cloud: Cloud, reader: AddressReader): ReadonlyMap<string, readonly HostPin[]> {
  const known = new Set(cloud.networks.map(({ name }) => name))
  const pins = new Map<string, HostPin[]>()
  for (const [index, host] of (cloud.file.hosts ?? []).entries()) {
    for (const [network, text] of Object.entries(host.addresses ?? {})) {
      if (!known.has(network)) continue
      const path = [...cloud.path, 'hosts', index, 'addresses', network]
      const owner = `${cloud.name} host ${host.name}`
      const addresses = reader.addresses(text, { owner, what: `address on ${network}`, path })
      pins.set(network, [...(pins.get(network) ?? []), { name: host.name, addresses }])
    }
  }
  return pins
}
