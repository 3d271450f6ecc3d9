/**
 * What the IPAM controllers share: caches of the kinds that they read, the ledger, the allocator.
 *
 * Made once per runtime. Webhooks read it too, on every replica; only the leader writes.
 */
import type { AddressBlock } from '../../api/address-block.ts'
import { type IpSet, ipSets, type Reservation, reservations } from '../../api/ipset.ts'
import { type NetConfig, netConfigs } from '../../api/netconfig.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Runtime, SharedCache } from '../../kube/runtime.ts'
import { type Allocator, createAllocator } from './allocator.ts'
import { addressBlocks } from './block.ts'
import { createOwnWrites, type OwnWrites } from './echoes.ts'
import { type PendingCreates, trackPendingCreates } from './fresh.ts'
import type { StatusForm } from './ipset-status.ts'
import { createLedger, type Ledger, ownerKey } from './ledger.ts'
import { createPoolCache, type ParsePool } from './pool.ts'

export const FIELD_MANAGER = 'stackloom-ipam'

export interface World {
  readonly client: Runtime['client']
  readonly ipSets: SharedCache<IpSet>
  readonly netConfigs: SharedCache<NetConfig>
  readonly reservations: SharedCache<Reservation>
  /** Reservations, with those that the watch has not told of yet. */
  readonly freshReservations: PendingCreates<Reservation>
  readonly blocks: SharedCache<AddressBlock>
  /** Our own writes of IPSets and Reservations. */
  readonly echoes: OwnWrites
  readonly poolOf: ParsePool
  readonly ledger: Ledger
  readonly allocator: Allocator
  readonly form: () => Promise<StatusForm>
  readonly record: (happening: EventRecord) => void
  /** Asks for a look at an IPSet. Bound when the controller is made. */
  readonly wake: { enqueue: (owner: string) => void }
}

export interface WorldOptions {
  readonly runtime: Pick<Runtime, 'client' | 'cache'>
  readonly form: () => Promise<StatusForm>
  readonly record?: (happening: EventRecord) => void
}

export function createWorld({ runtime, form, record = () => {} }: WorldOptions): World {
  const { client } = runtime
  const ledger = createLedger()
  const wake: World['wake'] = { enqueue: () => {} }
  const onServed = (owner: string): void => wake.enqueue(owner)
  const allocator = createAllocator({ client, ledger, fieldManager: FIELD_MANAGER, enqueue: onServed })
  const blocks = runtime.cache<AddressBlock>({ kind: addressBlocks })
  blocks.subscribe((change) => {
    const gone = allocator.observe(change.object, change.kind === 'deleted' ? 'deleted' : 'written')
    // Whoever lost an entry by another hand than ours claims it again, or is gone.
    for (const { holder } of gone) wake.enqueue(ownerKey(holder))
  })
  const known = runtime.cache<Reservation>({ kind: reservations })
  return {
    client,
    ipSets: runtime.cache<IpSet>({ kind: ipSets }),
    netConfigs: runtime.cache<NetConfig>({ kind: netConfigs }),
    reservations: known,
    freshReservations: trackPendingCreates(known),
    blocks,
    echoes: createOwnWrites(),
    poolOf: createPoolCache(),
    ledger,
    allocator,
    form,
    record,
    wake,
  }
}
