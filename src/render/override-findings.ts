/**
 * Raw fields that fight the plan: another pool, another cloud's address, a planned Service undone.
 *
 * They would win, because they are merged last; so they are told instead of being corrected.
 */
import { type Finding, finding } from '../errors/finding.ts'
import { fightingOverride, foreignAddress, foreignPool } from '../errors/render.ts'
import { parseAddress } from '../net/address.ts'
import { type RangeSet, rangeSet, setContains } from '../net/range-set.ts'
import type { Plan, PlannedCloud, PlannedNetwork } from '../plan/plan.ts'
import type { Place } from '../plan/slots/cloud-services.ts'
import { filePath, leaves, type RawSource, rawSources } from '../plan/slots/raw-fields.ts'
import { plannedSpec, withRawFields } from './control-plane/control-plane.ts'
import { type FilledSlot, filledSlots } from './control-plane/slot-values.ts'
import { type Fields, fieldsOf } from './merge.ts'
import { spansOf } from './spans.ts'

export function overrideFindings(plan: Plan, cloud: PlannedCloud, place: Place): readonly Finding[] {
  const sources = rawSources(cloud.from)
  if (sources.length === 0) return []
  const foreign = sources.flatMap((source) => foreignValues(plan, cloud, source, place))
  const where = place(sources.at(-1)?.path ?? cloud.from.path)
  // Who names a foreign pool in a slot undoes the slot too: one finding is enough.
  return foreign.length > 0 ? foreign : undoneSlots(plan, cloud).map((make) => make(where))
}

const POOLS = /^(?:metallb\.(?:io|universe\.tf)\/(?:address-pool|allow-shared-ip)|ipAddressPool|sharedIPKey)$/
const ADDRESSES = /^(?:metallb\.(?:io|universe\.tf)\/loadBalancerIPs|loadBalancerIP|loadBalancerIPs)$/

function foreignValues(plan: Plan, cloud: PlannedCloud, source: RawSource, place: Place): readonly Finding[] {
  const own = cloud.networks.flatMap((network) => network.pool ?? [])
  const spans = vipSpans(cloud.networks)
  return leaves(source.value).flatMap(({ path, value }): readonly Finding[] => {
    if (typeof value !== 'string' || value === '') return []
    const key = path.findLast((step) => typeof step === 'string') ?? ''
    const field = `spec.${path.join('.')}`
    const context = { where: place(filePath(source, path)) }
    if (POOLS.test(key) && !own.includes(value)) {
      return [finding(foreignPool, { cloud: cloud.name, field, pool: value, own }, context)]
    }
    if (!ADDRESSES.test(key)) return []
    const asked = value.split(',').map((one) => one.trim())
    return asked
      .filter((text) => !holds(spans, text))
      .map((text) =>
        finding(
          foreignAddress,
          { cloud: cloud.name, field, address: text, owner: ownerOf(plan, text) },
          context,
        ),
      )
  })
}

function vipSpans(networks: readonly PlannedNetwork[]): RangeSet {
  return rangeSet(networks.flatMap((network) => network.subnets.flatMap((subnet) => spansOf(subnet, 'vips'))))
}

function holds(spans: RangeSet, text: string): boolean {
  const address = parseAddress(text)
  return address !== undefined && setContains(spans, address)
}

function ownerOf(plan: Plan, text: string): string | undefined {
  for (const cloud of plan.clouds) {
    const network = cloud.networks.find((one) => holds(vipSpans([one]), text))
    if (network) return `${cloud.name}/${network.name} vips`
  }
  return undefined
}

type Made = (where: ReturnType<Place>) => Finding

/** Slots whose pool, address or type is another one after the merge. */
function undoneSlots(plan: Plan, cloud: PlannedCloud): readonly Made[] {
  const planned = plannedSpec(plan, cloud)
  const merged = withRawFields(planned, cloud)
  return filledSlots(cloud).flatMap((slot) => {
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
      return (where) => finding(fightingOverride, facts, { where })
    })
  })
}

/** What a slot says of its Service, in words that both eras share. */
function settingsAt(spec: Fields, { use }: FilledSlot): Readonly<Record<string, string | undefined>> {
  const value = use.path.reduce<unknown>(step, spec)
  const external = use.slot.shape.startsWith('external-')
  const notes = fieldsOf(
    use.slot.shape === 'annotations' ? value : fieldsOf(fieldsOf(value)['metadata'])['annotations'],
  )
  const list = fieldsOf(value)['loadBalancerIPs']
  return {
    pool: text(external ? fieldsOf(value)['ipAddressPool'] : notes['metallb.io/address-pool']),
    address: external
      ? Array.isArray(list)
        ? list.join(',')
        : undefined
      : text(notes['metallb.io/loadBalancerIPs']),
    ...(!external &&
      use.slot.shape !== 'annotations' && { type: text(fieldsOf(fieldsOf(value)['spec'])['type']) }),
  }
}

/** One step of a slot's path; endpoints of 2023 are items of a list, found by their name. */
function step(value: unknown, key: string): unknown {
  if (!Array.isArray(value)) return fieldsOf(value)[key]
  const items = value as readonly unknown[]
  return items.find((item) => fieldsOf(item)['endpoint'] === key) ?? items[Number(key)]
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
