/**
 * From wishes and lock to a draft: segments, then subnets, then addresses.
 *
 * Pure. A network that is frozen stays exactly as the lock has it, whatever the file says.
 */
import type { Finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import type { Range } from '../../net/range.ts'
import type { Site } from '../../site/site.ts'
import type { Locate } from '../address-reader.ts'
import { getOwn } from '../collections.ts'
import { networkDnsDomain } from '../dns-names.ts'
import { type Lock, type LockedNetwork, lockedNetwork } from '../lock.ts'
import type { Segment } from '../plan.ts'
import { type CloudRequest, type NetworkRequest } from '../requests.ts'
import type { DraftNetwork } from './draft.ts'
import { assignHolders } from './holders.ts'
import type { Layout } from './layout.ts'
import { placeNetworks } from './segments.ts'
import { draftSubnets, readLockedSubnet, type SubnetGrants } from './subnets.ts'
import { assignVips } from './vips.ts'

export interface DraftInput {
  readonly site: Site
  readonly wishes: readonly NetworkRequest[]
  readonly clouds: readonly CloudRequest[]
  readonly lock: Lock
  readonly layout: Layout
  /** What the cluster itself uses. */
  readonly reserved: readonly Range[]
  /** Owners that stay as the lock has them. */
  readonly frozen: ReadonlySet<string>
  readonly locate: Locate
}

export interface Draft {
  readonly networks: readonly DraftNetwork[]
  readonly segments: readonly Segment[]
  readonly offerSubnet: SubnetGrants['offer']
  readonly findings: readonly Finding[]
}

export function draftSite(input: DraftInput): Draft {
  const { site, lock, frozen, locate } = input
  const lockedOf = (wish: NetworkRequest): LockedNetwork | undefined =>
    lockedNetwork(lock, wish.cloud.name, wish.network.name)
  const wishes = input.wishes.map((wish) => (frozen.has(wish.owner) ? frozenWish(wish, lockedOf(wish)) : wish))
  const placed = placeNetworks(site, wishes, lock, locate)
  const { subnets, offer, findings } = draftSubnets({ ...input, wishes })
  const cloudOf = new Map(input.clouds.map((cloud) => [cloud.cloud.name, cloud]))
  const sharedNodes = new Map<string, ReadonlyMap<string, bigint>>()
  const found: Finding[] = [...placed.findings, ...findings]

  const networks = wishes.flatMap((wish): readonly DraftNetwork[] => {
    const cloud = cloudOf.get(wish.cloud.name)
    if (!cloud) return []
    const placement = placed.placements.get(wish.owner)
    const shared = {
      site,
      wish,
      cloud,
      placement,
      dnsDomain: networkDnsDomain(wish.cloud, wish.network),
      subnets: subnets.get(wish.owner) ?? [],
      locked: lockedOf(wish),
      pins: !frozen.has(wish.owner),
      locate,
    }
    const holders = assignHolders({ ...shared, sharedNodes })
    const vips = assignVips({ ...shared, endpoints: holders.endpoints })
    found.push(...holders.findings, ...vips.findings)
    const { findings: _, ...held } = holders
    const { groupVips, slotVips } = vips
    const { dnsDomain } = shared
    return [{ wish, placement, dnsDomain, subnets: shared.subnets, groupVips, slotVips, ...held }]
  })
  return { networks, segments: placed.segments, offerSubnet: offer, findings: found }
}

/** The same wish, with the lock's values for what must not move. */
function frozenWish(wish: NetworkRequest, locked: LockedNetwork | undefined): NetworkRequest {
  if (!locked) return wish
  const written = wish.subnets ?? []
  const subnets = (locked.subnets ?? []).flatMap(readLockedSubnet).map((subnet) => {
    const same = written.find(({ name }) => name === subnet.name)
    return same ? { ...same, ...subnet, path: same.path, reserved: [], vlan: undefined } : subnet
  })
  return {
    ...wish,
    nic: locked.nic ?? wish.nic,
    tag: locked.nic === undefined ? wish.tag : (locked.vlan ?? 'untagged'),
    tagIsPin: true,
    subnets,
    endpoints: wish.endpoints.map((endpoint) => {
      const before = parseAddress(getOwn(locked.endpoints, endpoint.name)?.[0] ?? '')
      return before ? { ...endpoint, address: before } : endpoint
    }),
  }
}
