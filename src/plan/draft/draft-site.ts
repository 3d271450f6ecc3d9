/**
 * Drafts a site from its requests and its lock: segments, then subnets, then addresses.
 *
 * Pure. A frozen network stays exactly as the lock has it, whatever the file says.
 */

import { getOwn } from '../../api/collections.ts'
import type { Finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import type { Range } from '../../net/range.ts'
import type { Site } from '../../site/site.ts'
import type { Locate } from '../address-reader.ts'
import { networkDnsDomain } from '../dns-names.ts'
import { type Lock, type LockedNetwork, lockedNetwork } from '../lock.ts'
import type { Segment } from '../plan.ts'
import type { CloudRequest, NetworkRequest } from '../requests.ts'
import type { DraftNetwork } from './draft.ts'
import { assignHolders } from './holders.ts'
import type { Layout } from './layout.ts'
import { placeNetworks } from './segments.ts'
import { draftSubnets, type FindSubnet, readLockedSubnet } from './subnets.ts'
import { assignVips } from './vips.ts'

export interface DraftInput {
  readonly site: Site
  readonly requests: readonly NetworkRequest[]
  readonly clouds: readonly CloudRequest[]
  readonly lock: Lock
  readonly layout: Layout
  /** What the cluster itself uses. */
  readonly reserved: readonly Range[]
  /** Owners of networks that stay as the lock has them. */
  readonly frozen: ReadonlySet<string>
  readonly locate: Locate
}

export interface Draft {
  readonly networks: readonly DraftNetwork[]
  readonly segments: readonly Segment[]
  /** Another free subnet, to suggest in a remedy. */
  readonly suggestSubnet: FindSubnet
  readonly findings: readonly Finding[]
}

export function draftSite(input: DraftInput): Draft {
  const { site, lock, frozen, locate } = input
  const findLocked = ({ cloud, network }: NetworkRequest): LockedNetwork | undefined =>
    lockedNetwork(lock, cloud.name, network.name)
  const requests = input.requests.map((request) =>
    frozen.has(request.owner) ? freeze(request, findLocked(request)) : request,
  )
  const { placements, segments, findings: segmentFindings } = placeNetworks(site, requests, lock, locate)
  const { subnets, suggest, findings: subnetFindings } = draftSubnets({ ...input, requests })
  const cloudByName = new Map(input.clouds.map((request) => [request.cloud.name, request]))
  const sharedNodes = new Map<string, ReadonlyMap<string, bigint>>()
  const found: Finding[] = [...segmentFindings, ...subnetFindings]

  const networks = requests.flatMap((request): readonly DraftNetwork[] => {
    const cloud = cloudByName.get(request.cloud.name)
    if (!cloud) return []
    const shared = {
      site,
      request,
      cloud,
      placement: placements.get(request.owner),
      dnsDomain: networkDnsDomain(request.cloud, request.network),
      subnets: subnets.get(request.owner) ?? [],
      locked: findLocked(request),
      usePins: !frozen.has(request.owner),
      locate,
    }
    const { findings: holderFindings, ...holders } = assignHolders({ ...shared, sharedNodes })
    const { findings: vipFindings, ...vips } = assignVips({ ...shared, endpoints: holders.endpoints })
    found.push(...holderFindings, ...vipFindings)
    const { placement, dnsDomain, subnets: networkSubnets } = shared
    return [{ request, placement, dnsDomain, subnets: networkSubnets, ...vips, ...holders }]
  })
  return { networks, segments, suggestSubnet: suggest, findings: found }
}

/** The same request, with the lock's values for what must not move. */
function freeze(request: NetworkRequest, locked: LockedNetwork | undefined): NetworkRequest {
  if (!locked) return request
  const subnets = (locked.subnets ?? []).flatMap(readLockedSubnet).map((subnet) => {
    const pinned = request.subnets?.find(({ name }) => name === subnet.name)
    return pinned ? { ...pinned, ...subnet, path: pinned.path, reserved: [], vlan: undefined } : subnet
  })
  return {
    ...request,
    nic: locked.nic ?? request.nic,
    tag: locked.nic === undefined ? request.tag : (locked.vlan ?? 'untagged'),
    tagIsPin: true,
    subnets,
    endpoints: request.endpoints.map((endpoint) => {
      const before = parseAddress(getOwn(locked.endpoints, endpoint.name)?.[0] ?? '')
      return before ? { ...endpoint, address: before } : endpoint
    }),
  }
}
