/**
 * The lock: which owner has which address, VLAN and name. Plain data, as it is in `site.lock.yaml`.
 *
 * Records decisions only. The file: `lock-file.ts` and `written-lock.ts`.
 */

import { getOwn } from '../api/collections.ts'
import { createNeighbourParser, type Family } from '../net/address.ts'
import type { AllocatorRole } from '../site/site.ts'
import type { SlotShape, SlotTable } from './slots/slots.ts'

export interface Lock {
  readonly site: string
  /** The schema that slots were planned for. */
  readonly crd?: string
  /** The release of that schema; of an unknown schema the nearest. */
  readonly release?: string
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
  /** The nova cell of each data plane host; a lock of an earlier version has none. */
  readonly cells?: Readonly<Record<string, string>>
  readonly networks: Readonly<Record<string, LockedNetwork>>
}

export interface LockedNetwork {
  readonly leaving?: true
  /** Absent where the network uses the bridge of another one. */
  readonly nic?: string
  /** Absent when untagged. */
  readonly vlan?: number
  readonly interface: string
  readonly bridge?: string
  readonly mtu: number
  readonly pool?: string
  readonly subnets?: readonly LockedSubnet[]
  /** The address that the APIs of the network share, one per family; internal and public ones apart. */
  readonly vip?: AddressesByHolder
  readonly vips?: AddressesByHolder
  readonly nodes?: AddressesByHolder
  readonly hosts?: AddressesByHolder
  readonly endpoints?: AddressesByHolder
  /** Addresses of holders that are no longer in the site file. */
  readonly left?: {
    readonly vips?: AddressesByHolder
    readonly nodes?: AddressesByHolder
    readonly hosts?: AddressesByHolder
    readonly endpoints?: AddressesByHolder
  }
}

/** Addresses by the name of their holder, one per family. */
export type AddressesByHolder = Readonly<Record<string, readonly string[]>>

interface HolderList {
  readonly names: readonly string[]
  /** In the order of the names. */
  readonly addresses: readonly (readonly string[])[]
}

const lists = new WeakMap<AddressesByHolder, HolderList>()

/** Listed once per record: a plan reads the hosts of a network for each family, and again to compare locks. */
export function listHolders(held: AddressesByHolder): HolderList {
  const known = lists.get(held)
  if (known) return known
  const names: string[] = []
  const addresses: (readonly string[])[] = []
  // In one pass: the engine sorts the names for each of Object.keys and Object.values.
  for (const name in held) {
    names.push(name)
    addresses.push(held[name] as readonly string[])
  }
  const list = { names, addresses }
  lists.set(held, list)
  return list
}

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

/** The kinds of holders of single addresses in a network. */
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

/** The lock without a cloud, `cloud/network` or `cloud/host`. */
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
  const { [below]: __, ...cells } = cloud.cells ?? {}
  const forgotten = { ...cloud, ...(cloud.cells && { cells }), networks }
  return { ...lock, clouds: { ...lock.clouds, [cloudName]: forgotten } }
}

function withoutHolder(locked: LockedNetwork, name: string): LockedNetwork {
  if (!locked.left) return locked
  const left: Partial<Record<HolderKind, AddressesByHolder>> = {}
  for (const kind of holderKinds) {
    const { [name]: _, ...others } = locked.left[kind] ?? {}
    if (Object.keys(others).length > 0) left[kind] = others
  }
  const { left: _, ...kept } = locked
  return Object.keys(left).length > 0 ? { ...kept, left } : kept
}

/** Whether the lock has this name, in the form that `forget` takes. */
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

/** The slot table that was planned with, if the lock has one. */
export function lockedSlots({ crd, slots, services }: Lock): SlotTable | undefined {
  if (crd === undefined || !slots || !services) return undefined
  return {
    crd,
    services,
    release: { kinds: {} },
    slots: slots.map((line) => {
      const [path = '', shape = ''] = line.split(' ')
      const steps = path.split('.')
      return { path: steps, shape: shape as SlotShape, service: steps[0] ?? '' }
    }),
  }
}

export type AddressesByFamily = Readonly<Record<Family, ReadonlyMap<string, bigint>>>

/** Locked addresses by family and holder. The last argument wins. */
export function parseLockedAddresses(...sources: readonly (AddressesByHolder | undefined)[]): AddressesByFamily {
  const read = { 4: new Map<string, bigint>(), 6: new Map<string, bigint>() }
  const parse = createNeighbourParser()
  for (const source of sources) {
    for (const name in source) {
      for (const text of source[name] ?? []) {
        const address = parse(text)
        if (address) read[address.family].set(name, address.value)
      }
    }
  }
  return read
}
