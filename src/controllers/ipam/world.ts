/**
 * What the IPAM controllers share: caches of the kinds that they read, the ledger, the allocator.
 *
 * Made once per runtime. Webhooks read it too, on every replica; only the leader writes.
 */
import type { AddressBlock } from '../../api/address-block.ts'
import { type IpSet, ipSets, type Reservation, reservations } from '../../api/ipset.ts'
import { type NetConfig, netConfigs } from '../../api/netconfig.ts'
import type { Happening } from '../../kube/events.ts'
import type { Runtime, SharedCache } from '../../kube/runtime.ts'
import { type Allocator, createAllocator } from './allocator.ts'
import { addressBlocks } from './block.ts'
import { createEchoes, type Echoes } from './echoes.ts'
import { type Fresh, freshlyCreated } from './fresh.ts'
import { createLedger, type Ledger, ownerOf } from './ledger.ts'
import { type PoolOf, rememberedPools } from './pool.ts'
import type { StatusForm } from './status.ts'

export const FIELD_MANAGER = 'stackloom-ipam'

export interface World {
  readonly client: Runtime['client']
  readonly ipSets: SharedCache<IpSet>
  readonly netConfigs: SharedCache<NetConfig>
  readonly reservations: SharedCache<Reservation>
  /** Reservations, with those that the watch has not told of yet. */
  readonly freshReservations: Fresh<Reservation>
  readonly blocks: SharedCache<AddressBlock>
  /** Our own writes of IPSets and Reservations. */
  readonly echoes: Echoes
  readonly poolOf: PoolOf
  readonly ledger: Ledger
  readonly allocator: Allocator
  readonly form: () => Promise<StatusForm>
  readonly record: (happening: Happening) => void
  /** Asks for a look at an IPSet. Bound when the controller is made. */
  readonly wake: { enqueue: (owner: string) => void }
}

export interface WorldOptions {
  readonly runtime: Pick<Runtime, 'client' | 'cache'>
  readonly form: () => Promise<StatusForm>
  readonly record?: (happening: Happening) => void
}

export function createWorld({ runtime, form, record = () => {} }: WorldOptions): World {
  const { client } = runtime
  const ledger = createLedger()
  const wake: World['wake'] = { enqueue: () => {} }
  const onServed = (owner: string): void => wake.enqueue(owner)
  const allocator = createAllocator({ client, ledger, fieldManager: FIELD_MANAGER, onServed })
  const blocks = runtime.cache<AddressBlock>({ kind: addressBlocks })
  blocks.subscribe((change) => {
    const gone = allocator.observe(change.object, change.kind === 'deleted' ? 'deleted' : 'written')
    // Whoever lost an entry by another hand than ours claims it again, or is gone.
    for (const { holder } of gone) wake.enqueue(ownerOf(holder))
  })
  const known = runtime.cache<Reservation>({ kind: reservations })
  return {
    client,
    ipSets: runtime.cache<IpSet>({ kind: ipSets }),
    netConfigs: runtime.cache<NetConfig>({ kind: netConfigs }),
    reservations: known,
    freshReservations: freshlyCreated(known),
    blocks,
    echoes: createEchoes(),
    poolOf: rememberedPools(),
    ledger,
    allocator,
    form,
    record,
    wake,
  }
}
