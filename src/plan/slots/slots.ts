/**
 * Slots: the places in the control plane's schema that take a Service override, and what each of them gets.
 *
 * Tables of known CRDs are built in, and a table can be read from any CRD; the lock records the one that was used.
 */
import type { Release } from '../release/releases.ts'

/** How a slot takes its Service settings. */
export type SlotShape =
  /** A map with the keys `internal` and `public`, one override each. */
  | 'endpoints'
  /** One override. */
  | 'single'
  /** One override per replica. */
  | 'list'
  /** A flat map of annotations (telemetry's logging). */
  | 'annotations'
  /** The form of 2023: a list of pool, addresses and sharing key, each for one endpoint. */
  | 'external-endpoints'
  /** The form of 2023 for a service without endpoints in keystone (dns): the same list, no endpoint named. */
  | 'external-list'
  /** The form of 2023 for one Service alone (RabbitMQ). */
  | 'external-single'

export interface Slot {
  /** Path below the control plane's `spec`; `*` stands for a name that the cloud chooses (a glance API, a cell). */
  readonly path: readonly string[]
  readonly shape: SlotShape
  /** The service whose slot it is: the first step of the path. */
  readonly service: string
}

export interface SlotTable {
  /** `sha256:…` of the schema that it was read from. */
  readonly crd: string
  readonly slots: readonly Slot[]
  /** Every service that this CRD can switch on or off. */
  readonly services: readonly string[]
  /** The fields of the kinds that were read with it; no kind for a table of a lock whose CRD is not built in. */
  readonly release: Release
}

/** One slot of one cloud: a Service that will exist. */
export interface SlotUse {
  /** `keystone.internal`, `glance.default.internal`, `rabbitmq.rabbitmq-cell1`: unique in the cloud. */
  readonly name: string
  readonly slot: Slot
  /** The path with names filled in, `internal` or `public` (or a replica's number) included where the shape has it. */
  readonly path: readonly string[]
  readonly network: string
  /** Its ports clash with others of its kind, so it needs an address of its own. */
  readonly alone: boolean
  /** Slots of one group may share an address. Internal and public endpoints have equal ports, so they never do. */
  readonly group: 'internal' | 'public'
}

/** The form of the control plane's API that a table was read from. */
export type Era = 'today' | '2023'

export function detectEra(table: SlotTable): Era {
  return table.slots.some((slot) => slot.shape.startsWith('external-')) ? '2023' : 'today'
}
