/** Explains every slot of a CRD: what a cloud puts into it and why, or why nothing; and the slots that are unknown. */
import { serviceCatalogue, unfilledSlots } from './service-catalogue.ts'
import type { Slot, SlotTable, SlotUse } from './slots.ts'

export interface SlotCoverage {
  /** Below `spec`. */
  readonly path: string
  readonly shape: Slot['shape']
  readonly service: string
  readonly verdict: 'filled' | 'unused' | 'not covered'
  /** The Services that fill it, by name. */
  readonly uses: readonly SlotUse[]
  readonly why: string
}

export function slotCoverage(table: SlotTable, uses: readonly SlotUse[]): readonly SlotCoverage[] {
  const filled = new Map<string, SlotUse[]>()
  for (const use of uses) {
    const path = use.slot.path.join('.')
    filled.set(path, [...(filled.get(path) ?? []), use])
  }
  return table.slots.map((slot) => {
    const path = slot.path.join('.')
    const slotUses = filled.get(path) ?? []
    const { verdict, why } = explain(path, slotUses)
    return { path, shape: slot.shape, service: slot.service, verdict, uses: slotUses, why }
  })
}

function explain(path: string, uses: readonly SlotUse[]): Pick<SlotCoverage, 'verdict' | 'why'> {
  if (uses.length > 0) {
    const alone = uses.some((use) => use.alone)
    const why = alone
      ? 'its ports clash with others, so it has an address of its own'
      : 'shares the address of its network'
    return { verdict: 'filled', why }
  }
  const reason = unfilledSlots[path]
  if (reason !== undefined) return { verdict: 'unused', why: reason }
  const owner = path.replace(/\.(?:override\.services?|annotations|externalEndpoints?)$/, '')
  const entry = serviceCatalogue.find(({ endpoints }) =>
    endpoints.some(
      ({ path: endpointPath, in2023 }) => endpointPath === owner || Object.values(in2023 ?? {}).includes(owner),
    ),
  )
  if (!entry) return { verdict: 'not covered', why: 'Stackloom does not know this slot: fill it with raw fields' }
  const endpoint = entry.endpoints.find(({ path: endpointPath }) => endpointPath === owner)
  if (endpoint?.when !== undefined) return { verdict: 'unused', why: `only with ${entry.name}'s ${endpoint.when}` }
  const isPublicIn2023 = entry.endpoints.some(({ in2023 }) => in2023?.public === owner && in2023.internal !== owner)
  if (isPublicIn2023 || endpoint?.types.includes('internal') === false) {
    return { verdict: 'unused', why: 'public only: reached through a Route' }
  }
  if (owner.startsWith('rabbitmq.') && path.endsWith('override.service')) {
    return { verdict: 'unused', why: 'the external endpoint of the same RabbitMQ is used instead' }
  }
  return { verdict: 'unused', why: `${entry.name} is off` }
}
