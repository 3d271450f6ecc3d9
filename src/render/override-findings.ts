/**
 * Raw fields that fight the plan: another pool, another cloud's address, a planned Service undone.
 *
 * They would win, because they are merged last; so they are told instead of being corrected.
 */
import { type Finding, finding } from '../errors/finding.ts'
import { parseAddress } from '../net/address.ts'
import { type RangeSet, rangeSet, setContains } from '../net/range-set.ts'
import type { Plan, PlannedCloud, PlannedNetwork } from '../plan/plan.ts'
import type { LocatePath } from '../plan/slots/cloud-services.ts'
import { leaves, type RawSource, rawFieldPath, rawSources } from '../plan/slots/raw-fields.ts'
import { mergeRawFields, plannedSpec } from './control-plane/control-plane.ts'
import { type ResolvedSlot, resolveSlots } from './control-plane/slot-values.ts'
import { foreignAddress, foreignPool, overrideConflict } from './findings.ts'
import { asFields, type Fields } from './merge.ts'
import { spanRanges } from './spans.ts'

export function lintOverrides(plan: Plan, cloud: PlannedCloud, place: LocatePath): readonly Finding[] {
  const sources = rawSources(cloud.from)
  if (sources.length === 0) return []
  const foreign = sources.flatMap((source) => foreignValues(plan, cloud, source, place))
  const where = place(sources.at(-1)?.path ?? cloud.from.path)
  // Who names a foreign pool in a slot undoes the slot too: one finding is enough.
  return foreign.length > 0 ? foreign : undoneSlots(plan, cloud).map((make) => make(where))
}

const POOLS = /^(?:metallb\.(?:io|universe\.tf)\/(?:address-pool|allow-shared-ip)|ipAddressPool|sharedIPKey)$/
const ADDRESSES = /^(?:metallb\.(?:io|universe\.tf)\/loadBalancerIPs|loadBalancerIP|loadBalancerIPs)$/

function foreignValues(plan: Plan, cloud: PlannedCloud, source: RawSource, place: LocatePath): readonly Finding[] {
  const own = cloud.networks.flatMap((network) => network.pool ?? [])
  const spans = vipSpans(cloud.networks)
  return leaves(source.value).flatMap(({ path, value }): readonly Finding[] => {
    if (typeof value !== 'string' || value === '') return []
    const key = path.findLast((step) => typeof step === 'string') ?? ''
    const field = `spec.${path.join('.')}`
    const context = { where: place(rawFieldPath(source, path)) }
    if (POOLS.test(key) && !own.includes(value)) {
      return [finding(foreignPool, { cloud: cloud.name, field, pool: value, own }, context)]
    }
    if (!ADDRESSES.test(key)) return []
    const asked = value.split(',').map((one) => one.trim())
    return asked
      .filter((text) => !holds(spans, text))
      .map((text) =>
        finding(foreignAddress, { cloud: cloud.name, field, address: text, owner: ownerOf(plan, text) }, context),
      )
  })
}

function vipSpans(networks: readonly PlannedNetwork[]): RangeSet {
  return rangeSet(networks.flatMap((network) => network.subnets.flatMap((subnet) => spanRanges(subnet, 'vips'))))
}

function holds(spans: RangeSet, text: string): boolean {
  const address = parseAddress(text)
  return address !== undefined && setContains(spans, address)
}

function ownerOf(plan: Plan, text: string): string | undefined {
  for (const cloud of plan.clouds) {
    const network = cloud.networks.find((network) => holds(vipSpans([network]), text))
    if (network) return `${cloud.name}/${network.name} vips`
  }
  return undefined
}

type Made = (where: ReturnType<LocatePath>) => Finding

/** Slots whose pool, address or type is another one after the merge. */
function undoneSlots(plan: Plan, cloud: PlannedCloud): readonly Made[] {
  const planned = plannedSpec(plan, cloud)
  const merged = mergeRawFields(planned, cloud)
  return resolveSlots(cloud).flatMap((slot) => {
    const [before, after] = [settingsAt(planned, slot), settingsAt(merged, slot)]
    const changed = Object.entries(before).filter(([what, value]) => after[what] !== value)
    return changed.map(([what, value]): Made => {
      const facts = {
        cloud: cloud.name,
        slot: slot.use.name,
        what,
        planned: value ?? 'nothing',
        merged: after[what] ?? 'undone',
      }
      return (where) => finding(overrideConflict, facts, { where })
    })
  })
}

/** What a slot says of its Service, in words that both eras share. */
function settingsAt(spec: Fields, { use }: ResolvedSlot): Readonly<Record<string, string | undefined>> {
  const value = use.path.reduce<unknown>(step, spec)
  const external = use.slot.shape.startsWith('external-')
  const notes = asFields(
    use.slot.shape === 'annotations' ? value : asFields(asFields(value)['metadata'])['annotations'],
  )
  const list = asFields(value)['loadBalancerIPs']
  return {
    pool: text(external ? asFields(value)['ipAddressPool'] : notes['metallb.io/address-pool']),
    address: external ? (Array.isArray(list) ? list.join(',') : undefined) : text(notes['metallb.io/loadBalancerIPs']),
    ...(!external && use.slot.shape !== 'annotations' && { type: text(asFields(asFields(value)['spec'])['type']) }),
  }
}

/** One step of a slot's path; endpoints of 2023 are items of a list, found by their name. */
function step(value: unknown, key: string): unknown {
  if (!Array.isArray(value)) return asFields(value)[key]
  const items = value as readonly unknown[]
  return items.find((item) => asFields(item)['endpoint'] === key) ?? items[Number(key)]
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
