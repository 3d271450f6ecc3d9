/**
 * A draft: the networks of all clouds with everything decided, still as values. The plan, the lock and the ledger
 * are made from it.
 */
import type { Address } from '../net/address.ts'
import type { Range } from '../net/range.ts'
import type { AllocatorRole } from '../site/site.ts'
import type { Placement } from './placement.ts'
import type { NetworkWish, SubnetWish } from './wishes.ts'

export interface DraftSubnet extends Omit<SubnetWish, 'spans'> {
  readonly spans: Readonly<Partial<Record<AllocatorRole, readonly Range[]>>>
  /** Whether somebody wrote it, or the planner chose it. */
  readonly pinned: boolean
}

/** An address and who holds it; `text` is what plan and lock both print. */
export interface Holding {
  readonly name: string
  readonly address: Address
  readonly text: string
}

export interface DraftVip extends Holding {
  readonly shared: boolean
}

export interface DraftNetwork {
  readonly wish: NetworkWish
  readonly placement: Placement | undefined
  readonly subnets: readonly DraftSubnet[]
  /** The shared address of each group of slots. */
  readonly vip: Readonly<Record<string, readonly string[]>>
  readonly vips: readonly DraftVip[]
  readonly nodes: readonly Holding[]
  readonly hosts: readonly Holding[]
  readonly endpoints: readonly Holding[]
}
