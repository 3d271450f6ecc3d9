/**
 * What goes into a slot: the pool, the sharing key and the address of one Service, in the form that the slot takes.
 *
 * Both spellings of MetalLB's annotations: the new one wins where it is known, old MetalLBs and the telemetry operator
 * read the other.
 */
import type { PlannedCloud, PlannedNetwork, PlannedVip } from '../../plan/plan.ts'
import type { SlotUse } from '../../plan/slots.ts'
import { type Fields, fieldsOf, withValue } from '../merge.ts'

/** A Service that will exist, with what the plan gave it. */
export interface FilledSlot {
  readonly use: SlotUse
  readonly network: PlannedNetwork
  readonly vips: readonly PlannedVip[]
}

export function filledSlots(cloud: PlannedCloud, uses: readonly SlotUse[]): readonly FilledSlot[] {
  const networks = new Map(cloud.networks.map((network) => [network.name, network]))
  const vips = new Map<string, PlannedVip[]>()
  for (const network of cloud.networks) {
    for (const vip of network.vips) vips.set(vip.slot, [...(vips.get(vip.slot) ?? []), vip])
  }
  return uses.flatMap((use) => {
    const network = networks.get(use.network)
    const own = vips.get(use.name)
    return network && own ? [{ use, network, vips: own }] : []
  })
}

/** The spec with every slot filled. */
export function withSlots(spec: Fields, slots: readonly FilledSlot[]): Fields {
  return slots.reduce((filled, slot) => fieldsOf(withSlot(filled, slot)), spec)
}

function withSlot(spec: Fields, slot: FilledSlot): unknown {
  const { path } = slot.use
  switch (slot.use.slot.shape) {
    case 'endpoints':
    case 'single':
      return withValue(spec, path, override(slot))
    case 'list':
      return withItem(spec, path.slice(0, -1), override(slot))
    case 'annotations':
      // The operator makes this Service for one family, so it can hold one address.
      return withValue(spec, path, annotations({ ...slot, vips: slot.vips.slice(0, 1) }))
    case 'external-single':
      return withValue(spec, path, external(slot))
    case 'external-list':
      return withValue(spec, path, [external(slot)])
    case 'external-endpoints':
      return withItem(spec, path.slice(0, -1), { endpoint: path.at(-1), ...external(slot) })
  }
}

/** Slots come in the order of their replicas and endpoints, so an item more goes to the end. */
function withItem(spec: Fields, path: readonly string[], item: Fields): unknown {
  const before = valueAt(spec, path)
  return withValue(spec, path, [...(Array.isArray(before) ? (before as readonly unknown[]) : []), item])
}

function override(slot: FilledSlot): Fields {
  const families = new Set(slot.vips.map((vip) => vip.address.includes(':')))
  return {
    metadata: { annotations: annotations(slot) },
    spec: { type: 'LoadBalancer', ...(families.size > 1 && { ipFamilyPolicy: 'RequireDualStack' }) },
  }
}

export function annotations({ network, vips }: FilledSlot): Readonly<Record<string, string>> {
  const shared = vips.every((vip) => vip.shared)
  const values = {
    'address-pool': network.pool ?? '',
    ...(shared && { 'allow-shared-ip': network.sharingKey ?? '' }),
    loadBalancerIPs: vips.map((vip) => vip.address).join(','),
  }
  const spelled = (prefix: string): readonly (readonly [string, string])[] =>
    Object.entries(values).map(([name, value]) => [`${prefix}/${name}`, value])
  return Object.fromEntries([...spelled('metallb.universe.tf'), ...spelled('metallb.io')])
}

/** The form of 2023; an empty key means the pool's name, which is the cloud's own key. */
function external({ network, vips }: FilledSlot): Fields {
  const shared = vips.every((vip) => vip.shared)
  return {
    ipAddressPool: network.pool,
    loadBalancerIPs: vips.map((vip) => vip.address),
    sharedIP: shared,
    ...(shared && { sharedIPKey: '' }),
  }
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((current, key) => fieldsOf(current)[key], value)
}
