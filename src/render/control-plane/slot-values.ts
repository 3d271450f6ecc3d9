/**
 * What goes into a slot: the pool, the sharing key and the address of one Service, in the form that the slot takes.
 *
 * Both spellings of MetalLB's annotations: the new one wins where it is known, old MetalLBs and the telemetry operator
 * read the other.
 */
import type { PlannedCloud, PlannedNetwork, PlannedVip } from '../../plan/plan.ts'
import type { SlotUse } from '../../plan/slots/slots.ts'
import { type Fields, fieldsOf, withValue } from '../merge.ts'

/** A Service that will exist, with what the plan gave it. */
export interface FilledSlot {
  readonly use: SlotUse
  readonly network: PlannedNetwork
  readonly vips: readonly PlannedVip[]
}

export function filledSlots(cloud: PlannedCloud): readonly FilledSlot[] {
  const networks = new Map(cloud.networks.map((network) => [network.name, network]))
  const vips = new Map<string, PlannedVip[]>()
  for (const network of cloud.networks) {
    for (const vip of network.vips) {
      const own = vips.get(vip.slot)
      if (own) own.push(vip)
      else vips.set(vip.slot, [vip])
    }
  }
  return cloud.uses.flatMap((use) => {
    const network = networks.get(use.network)
    const own = vips.get(use.name)
    return network && own ? [{ use, network, vips: own }] : []
  })
}

/** The spec with every slot filled. */
export function withSlots(spec: Fields, slots: readonly FilledSlot[]): Fields {
  const filled: Record<string, unknown> = { ...spec }
  // The APIs of a network have one address and one key: what their slots get is one value.
  const overrides = new Map<string, Fields>()
  const shared = (slot: FilledSlot): Fields => {
    const key = `${slot.network.name} ${slot.vips.map((vip) => `${vip.address} ${vip.shared}`).join(' ')}`
    const known = overrides.get(key) ?? override(slot)
    overrides.set(key, known)
    return known
  }
  for (const slot of slots) {
    const [service = '', ...path] = slot.use.path
    filled[service] = withSlot(fieldsOf(filled[service]), path, slot, shared)
  }
  return filled
}

/** One service's fields with one slot filled, at its path below the service. */
function withSlot(
  spec: Fields,
  path: readonly string[],
  slot: FilledSlot,
  overrideOf: (slot: FilledSlot) => Fields,
): unknown {
  switch (slot.use.slot.shape) {
    case 'endpoints':
    case 'single':
      return withValue(spec, path, overrideOf(slot))
    case 'list':
      return withItem(spec, path.slice(0, -1), overrideOf(slot))
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
  const { pool = '', sharingKey = '' } = network
  const addresses = vips.map((vip) => vip.address).join(',')
  const shared = vips.every((vip) => vip.shared)
  return {
    'metallb.universe.tf/address-pool': pool,
    ...(shared && { 'metallb.universe.tf/allow-shared-ip': sharingKey }),
    'metallb.universe.tf/loadBalancerIPs': addresses,
    'metallb.io/address-pool': pool,
    ...(shared && { 'metallb.io/allow-shared-ip': sharingKey }),
    'metallb.io/loadBalancerIPs': addresses,
  }
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
