/**
 * The lock: what was given to whom. Plain data, as it stands in `site.lock.yaml`.
 *
 * Pins decisions, never opinions: what the site file says and the lock agrees with is in both. Reading and writing
 * the file: `lock-file.ts`.
 */

import { createNeighbourParser, type Family } from '../net/address.ts'
import { type AllocatorRole } from '../site/site.ts'
import { getOwn } from './collections.ts'
import { type SlotShape, type SlotTable } from './slots/slots.ts'

export interface Lock {
  readonly site: string
  /** The schema that slots were planned for. */
  readonly crd?: string
  /** Its slots: path and shape. */
  readonly slots?: readonly string[]
  /** The services that it can switch. */
  readonly services?: readonly string[]
  readonly clouds: Readonly<Record<string, LockedCloud>>
}

export interface LockedCloud {
  readonly namespace: string
  /** No longer in the site file, not yet taken down. */
  readonly leaving?: true
  readonly networks: Readonly<Record<string, LockedNetwork>>
}

export interface LockedNetwork {
  readonly leaving?: true
  /** Absent where the network rides on another's bridge. */
  readonly nic?: string
  /** Absent when untagged. */
  readonly vlan?: number
  readonly interface: string
  readonly bridge?: string
  readonly mtu: number
  readonly pool?: string
  readonly subnets?: readonly LockedSubnet[]
  /** The address that the APIs of the network share, one per family; internal and public ones apart. */
  readonly vip?: HeldAddresses
  readonly vips?: HeldAddresses
  readonly nodes?: HeldAddresses
  readonly hosts?: HeldAddresses
  readonly endpoints?: HeldAddresses
  /** What nobody of the site file asks for any more. */
  readonly left?: {
    readonly vips?: HeldAddresses
    readonly nodes?: HeldAddresses
    readonly hosts?: HeldAddresses
    readonly endpoints?: HeldAddresses
  }
}

/** Addresses by name of their holder: one per family. */
export type HeldAddresses = Readonly<Record<string, readonly string[]>>

export interface LockedSubnet {
  readonly name: string
  readonly cidr: string
  readonly gateway?: string
  readonly spans?: Readonly<Partial<Record<AllocatorRole, readonly string[]>>>
}

export function emptyLock(site: string): Lock {
  return { site, clouds: {} }
}

export function lockedNetwork(lock: Lock, cloud: string, network: string): LockedNetwork | undefined {
  return getOwn(getOwn(lock.clouds, cloud)?.networks, network)
}

/** What a network held, by kind; those who left included: they still hold it. */
export const holderKinds = ['vips', 'nodes', 'hosts', 'endpoints'] as const
export type HolderKind = (typeof holderKinds)[number]

export interface LockEntry {
  /** `rhoso1/internalapi`. */
  readonly owner: string
  readonly cloud: string
  readonly name: string
  readonly locked: LockedNetwork
}

/** Every network of every cloud in the lock, leaving or not. */
export function lockEntries(lock: Lock): readonly LockEntry[] {
  return Object.entries(lock.clouds).flatMap(([cloud, { networks }]) =>
    Object.entries(networks).map(([name, locked]) => ({ owner: `${cloud}/${name}`, cloud, name, locked })),
  )
}

/** The same lock without what is named: a cloud, `cloud/network`, or `cloud/host`. */
export function forget(lock: Lock, name: string): Lock {
  const [cloudName = '', below] = name.split('/')
  const cloud = getOwn(lock.clouds, cloudName)
  if (!cloud) return lock
  if (below === undefined) {
    const { [cloudName]: _, ...clouds } = lock.clouds
    return { ...lock, clouds }
  }
  const { [below]: _, ...rest } = cloud.networks
  const networks = Object.fromEntries(
    Object.entries(rest).map(([network, locked]) => [network, withoutHolder(locked, below)]),
  )
  return { ...lock, clouds: { ...lock.clouds, [cloudName]: { ...cloud, networks } } }
}

function withoutHolder(locked: LockedNetwork, name: string): LockedNetwork {
  if (!locked.left) return locked
  const left: Partial<Record<HolderKind, HeldAddresses>> = {}
  for (const kind of holderKinds) {
    const { [name]: _, ...others } = locked.left[kind] ?? {}
    if (Object.keys(others).length > 0) left[kind] = others
  }
  const { left: _, ...kept } = locked
  return Object.keys(left).length > 0 ? { ...kept, left } : kept
}

/** Whether the lock knows this name in the sense of `forget`. */
export function isInLock(lock: Lock, name: string): boolean {
  const [cloudName = '', below] = name.split('/')
  const cloud = getOwn(lock.clouds, cloudName)
  if (!cloud || below === undefined) return cloud !== undefined
  return Object.entries(cloud.networks).some(
    ([network, locked]) =>
      network === below ||
      holderKinds.some((kind) => getOwn(locked[kind], below) ?? getOwn(locked.left?.[kind], below)),
  )
}

export function slotLines(table: SlotTable): readonly string[] {
  return table.slots.map(({ path, shape }) => `${path.join('.')} ${shape}`)
}

/** The slot table that the lock was made with, if it records one. */
export function lockedSlots({ crd, slots, services }: Lock): SlotTable | undefined {
  if (crd === undefined || !slots || !services) return undefined
  return {
    crd,
    services,
    slots: slots.map((line) => {
      const [path = '', shape = ''] = line.split(' ')
      const steps = path.split('.')
      return { path: steps, shape: shape as SlotShape, service: steps[0] ?? '' }
    }),
  }
}

// FOLDED src/plan/draft/locked-addresses.ts
/** What the lock says of single addresses, by holder and family. */
export type ByFamily = Readonly<Record<Family, ReadonlyMap<string, bigint>>>

/** Who is in both has what comes last. */
export function parseHeldAddresses(...all: readonly (HeldAddresses | undefined)[]): ByFamily {
  const read = { 4: new Map<string, bigint>(), 6: new Map<string, bigint>() }
  const parse = createNeighbourParser()
  for (const held of all) {
    for (const name in held) {
      for (const text of held[name] ?? []) {
        const address = parse(text)
        if (address) read[address.family].set(name, address.value)
      }
    }
  }
  return read
}
