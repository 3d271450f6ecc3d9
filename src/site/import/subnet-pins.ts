/**
 * Chooses addresses for hosts in the subnet that their source names.
 *
 * Pure. A site file names no subnet for a host, and the planner uses the first one: an address in another subnet must be a pin.
 */
import { asStrings } from '../../api/json.ts'
import type { SiteFileCloud } from '../../api/site.ts'
import type { Where } from '../../errors/finding.ts'
import { formatValue, parseAddress } from '../../net/address.ts'
import { type Allocator, createAllocator } from '../../net/allocator.ts'
import { parseRange, type Range, singleAddressRange } from '../../net/range.ts'

export interface ChosenAddresses {
  readonly network: string
  readonly subnet: string
  readonly addresses: readonly string[]
  /** Where the first host names the subnet. */
  readonly where: Where | undefined
}

export interface SubnetPins {
  /** The address to pin; none where the planner chooses from this subnet anyway, or where none is free. */
  readonly choose: (network: string, subnet: string, where: Where | undefined) => readonly string[]
  /** What was chosen since the last call. */
  readonly takeChosen: () => readonly ChosenAddresses[]
}

export function createSubnetPins({ networks = {} }: SiteFileCloud, taken: readonly string[]): SubnetPins {
  const takenRanges = taken.flatMap((text) => parseAddress(text) ?? []).map(singleAddressRange)
  const allocators = new Map<string, readonly Allocator[]>()
  const chosen = new Map<string, ChosenAddresses>()

  const createAllocators = (networkName: string, subnetName: string): readonly Allocator[] => {
    const network = networks[networkName]
    const subnets = (network ? (network.subnets ?? []) : []).map((subnet, index) => ({
      name: subnet.name ?? `subnet${index + 1}`,
      spans: toRanges(subnet.spans?.hosts),
      excluded: [...takenRanges, ...toRanges(subnet.gateway), ...toRanges(subnet.reserved)],
    }))
    const subnet = subnets.find(({ name }) => name.toLowerCase() === subnetName.toLowerCase())
    const [family] = subnet?.spans.map((span) => span.family) ?? []
    const first = subnets.find(({ spans }) => spans.some((span) => span.family === family))
    return subnet && subnet !== first ? subnet.spans.map((span) => createAllocator(span, subnet.excluded)) : []
  }

  return {
    choose: (network, subnet, where) => {
      const key = `${network}/${subnet}`
      const candidates = allocators.get(key) ?? createAllocators(network, subnet)
      allocators.set(key, candidates)
      const address = takeNext(candidates)
      if (address === undefined) return []
      const before = chosen.get(key)
      chosen.set(key, { network, subnet, where, ...before, addresses: [...(before?.addresses ?? []), address] })
      return [address]
    },
    takeChosen: () => {
      const all = [...chosen.values()]
      chosen.clear()
      return all
    },
  }
}

function toRanges(texts: unknown): readonly Range[] {
  return asStrings(texts).flatMap((text) => parseRange(text) ?? [])
}

function takeNext(allocators: readonly Allocator[]): string | undefined {
  for (const allocator of allocators) {
    const value = allocator.next()
    if (value !== undefined) return formatValue(allocator.range.family, value)
  }
  return undefined
}
