/**
 * What each cloud asks for beside its networks: hosts with their pins, and pinned VIPs.
 *
 * Nothing is chosen here.
 */
import type { Address } from '../net/address.ts'
import type { Cloud, Path } from '../site/site.ts'
import type { Reader } from './reader.ts'
import type { SlotUse } from './slots.ts'

export interface HostWish {
  readonly name: string
  /** Undefined: every network that has a hosts span. */
  readonly networks: ReadonlySet<string> | undefined
  /** Pinned addresses, by network. */
  readonly pins: ReadonlyMap<string, readonly Address[]>
  readonly path: Path
}

export interface CloudWish {
  readonly cloud: Cloud
  readonly hosts: readonly HostWish[]
  /** Pinned addresses, by slot. */
  readonly vips: ReadonlyMap<string, readonly Address[]>
  readonly uses: readonly SlotUse[]
}

export function readCloudWish(cloud: Cloud, uses: readonly SlotUse[], reader: Reader): CloudWish {
  const networks = new Set(cloud.networks.map(({ name }) => name))
  const hosts = (cloud.file.hosts ?? []).map((host, index): HostWish => {
    const path = [...cloud.path, 'hosts', index]
    const owner = `${cloud.name} host ${host.name}`
    const pins = Object.entries(host.addresses ?? {}).flatMap(([network, text]) => {
      const at = [...path, 'addresses', network]
      if (!networks.has(network)) return []
      return [[network, reader.addresses(text, { owner, what: `address on ${network}`, path: at })] as const]
    })
    return { name: host.name, networks: host.networks && new Set(host.networks), pins: new Map(pins), path }
  })
  const vips = Object.entries(cloud.file.vips ?? {}).map(([slot, text]) => {
    const path = [...cloud.path, 'vips', slot]
    return [slot, reader.addresses(text, { owner: cloud.name, what: `VIP of ${slot}`, path })] as const
  })
  return { cloud, hosts, vips: new Map(vips), uses }
}
