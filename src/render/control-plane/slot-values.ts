/**
 * What goes into a slot: the pool, the sharing key and the address of one Service, in the form that the slot takes.
 *
 * Both spellings of MetalLB's annotations: the new one wins where it is known, old MetalLBs and the telemetry operator
 * read the other.
 */
import type { PlannedCloud, PlannedNetwork, PlannedVip } from '../../plan/plan.ts'
import type { SlotUse } from '../../plan/slots/slots.ts'
import { type Fields, FieldsDraft } from '../merge.ts'

/** A Service that will exist, with what the plan gave it. */
export interface ResolvedSlot {
  readonly use: SlotUse
  readonly network: PlannedNetwork
  readonly vips: readonly PlannedVip[]
}

export function resolveSlots(cloud: PlannedCloud): readonly ResolvedSlot[] {
  const networks = new Map(cloud.networks.map((network) => [network.name, network]))
  const vips = new Map<string, PlannedVip[]>()
  for (const network of cloud.networks) {
    for (const vip of network.vips) {
      const own = vips.get(vip.slot)
      if (own) own.push(vip)
      else vips.set(vip.slot, [vip])
    }
  }
  const filled: ResolvedSlot[] = []
  for (const use of cloud.uses) {
    const network = networks.get(use.network)
    const own = vips.get(use.name)
    if (network && own) filled.push({ use, network, vips: own })
  }
  return filled
}

/** Fills every slot of a spec that is being made. */
export function fillSlots(spec: Record<string, unknown>, slots: readonly ResolvedSlot[]): void {
  const draft = new FieldsDraft(spec)
  // The APIs of a network have one address and one key: what their slots get is one value.
  const overrides = new Map<string, Fields>()
  for (const slot of slots) {
    const key = slot.vips.map((vip) => vip.address).join(' ')
    const shared = overrides.get(key) ?? override(slot)
    overrides.set(key, shared)
    fill(draft, slot, shared)
  }
}

function fill(draft: FieldsDraft, slot: ResolvedSlot, shared: Fields): void {
  const { path } = slot.use
  switch (slot.use.slot.shape) {
    case 'endpoints':
    case 'single':
      return draft.put(path, () => shared)
    case 'list':
      return draft.put(path.slice(0, -1), (before) => [...asList(before), shared])
    case 'annotations':
      // The operator makes this Service for one family, so it can hold one address.
      return draft.put(path, () => annotations({ ...slot, vips: slot.vips.slice(0, 1) }))
    case 'external-single':
      return draft.put(path, () => external(slot))
    case 'external-list':
      return draft.put(path, () => [external(slot)])
    case 'external-endpoints':
      return draft.put(path.slice(0, -1), (before) => [...asList(before), { endpoint: path.at(-1), ...external(slot) }])
  }
}

/** Slots come in the order of their replicas and endpoints, so an item more goes to the end. */
function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function override(slot: ResolvedSlot): Fields {
  const families = new Set(slot.vips.map((vip) => vip.address.includes(':')))
  return {
    metadata: { annotations: annotations(slot) },
    spec: { type: 'LoadBalancer', ...(families.size > 1 && { ipFamilyPolicy: 'RequireDualStack' }) },
  }
}

function annotations({ network, vips }: ResolvedSlot): Readonly<Record<string, string>> {
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
function external({ network, vips }: ResolvedSlot): Fields {
  const shared = vips.every((vip) => vip.shared)
  return {
    ipAddressPool: network.pool,
    loadBalancerIPs: vips.map((vip) => vip.address),
    sharedIP: shared,
    ...(shared && { sharedIPKey: '' }),
  }
}
