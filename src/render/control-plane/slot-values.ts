/**
 * Fills the slots of a control plane with the pool, sharing key and address of each Service. Pure.
 *
 * MetalLB's annotations have both spellings: newer versions prefer `metallb.io`, older ones and the telemetry operator
 * read only `metallb.universe.tf`.
 */
import type { PlannedCloud, PlannedNetwork, PlannedVip } from '../../plan/plan.ts'
import type { SlotUse } from '../../plan/slots/slots.ts'
import { type Fields, FieldsDraft } from '../merge.ts'

/** A Service that will exist, with its planned addresses. */
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
      const slotVips = vips.get(vip.slot)
      if (slotVips) slotVips.push(vip)
      else vips.set(vip.slot, [vip])
    }
  }
  const slots: ResolvedSlot[] = []
  for (const use of cloud.uses) {
    const network = networks.get(use.network)
    const slotVips = vips.get(use.name)
    if (network && slotVips) slots.push({ use, network, vips: slotVips })
  }
  return slots
}

/** Changes the spec in place. */
export function fillSlots(spec: Record<string, unknown>, slots: readonly ResolvedSlot[]): void {
  const draft = new FieldsDraft(spec)
  // The APIs of a network share one address and key, so their slots share one value.
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
      return draft.set(path, () => shared)
    case 'list':
      return draft.set(path.slice(0, -1), (before) => [...asList(before), shared])
    case 'annotations':
      // The operator creates this Service for one family, so it can have one address.
      return draft.set(path, () => annotations({ ...slot, vips: slot.vips.slice(0, 1) }))
    case 'external-single':
      return draft.set(path, () => external(slot))
    case 'external-list':
      return draft.set(path, () => [external(slot)])
    case 'external-endpoints':
      return draft.set(path.slice(0, -1), (before) => [...asList(before), { endpoint: path.at(-1), ...external(slot) }])
  }
}

/** Slots are in the order of their replicas and endpoints, so new items are appended. */
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

/** The form of the 2023 API; an empty key means the pool's name, which is the cloud's key. */
function external({ network, vips }: ResolvedSlot): Fields {
  const shared = vips.every((vip) => vip.shared)
  return {
    ipAddressPool: network.pool,
    loadBalancerIPs: vips.map((vip) => vip.address),
    sharedIP: shared,
    ...(shared && { sharedIPKey: '' }),
  }
}
