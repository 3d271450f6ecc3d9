/** Reads an OverlappingRangeIPReservation: whereabouts names it after its network and address, with `-` for `:`. Pure. */
import type { KubeObject } from '../api/object.ts'
import { getString } from '../api/raw-object.ts'
import { formatAddress, parseAddress } from '../net/address.ts'

export interface Overlap {
  readonly address: string
  /** `namespace/name`; empty in objects of old versions. */
  readonly podRef: string
}

/** An IPv6 address has eight groups, and two colons more where groups are left out. */
const MAX_WORDS = 10

export function parseOverlap(object: KubeObject): Overlap {
  const words = object.metadata.name.split('-')
  const podRef = getString(object, 'spec', 'podref') ?? ''
  for (let skipped = Math.max(0, words.length - MAX_WORDS); skipped < words.length; skipped += 1) {
    const parsed = parseAddress(words.slice(skipped).join(':'))
    if (parsed) return { address: formatAddress(parsed), podRef }
  }
  return { address: object.metadata.name, podRef }
}
