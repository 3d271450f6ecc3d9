/**
 * Blocks: how addresses of one segment are grouped, how a group is called, and how it is read and written.
 *
 * Pure. 256 neighbours share a block, so that many grants are one write and a block stays a small object.
 */
import { createHash } from 'node:crypto'
import {
  type AddressBlock,
  type AddressHolder,
  addressBlockKind,
  formatHolder,
  parseHolder,
} from '../../api/address-block.ts'
import { type Address, type Family, formatAddress, parseAddress } from '../../net/address.ts'

const BLOCK_BITS = 8n
export const BLOCK_SIZE = 1n << BLOCK_BITS

export const addressBlocks = {
  apiVersion: `${addressBlockKind.group}/${addressBlockKind.version}`,
  kind: addressBlockKind.kind,
} as const

/** One address on one segment: what can be held once. */
export interface SegmentAddress extends Address {
  readonly segment: string
}

export interface BlockId {
  readonly segment: string
  readonly family: Family
  /** The first address. */
  readonly first: bigint
}

/** Equal for equal blocks, and cheaper than the name. */
export function blockKey({ segment, family, first }: BlockId): string {
  return `${segment}|${family}|${first.toString(36)}`
}

export function blockContaining({ segment, family, value }: SegmentAddress): BlockId {
  return { segment, family, first: (value >> BLOCK_BITS) << BLOCK_BITS }
}

/**
 * The object's name, the same for everybody who wants the same address: that is what makes two of them meet. It must
 * be a DNS name whatever the segment is called, so a name that had to be changed carries a hash of the true one.
 */
export function blockName({ segment, family, first }: BlockId): string {
  const plain = segment
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
  const mark = plain === segment ? '' : `-${createHash('sha256').update(segment).digest('hex').slice(0, 12)}`
  const digits = first.toString(16).padStart(family === 4 ? 8 : 32, '0')
  return `${plain || 'segment'}${mark}.${family === 4 ? 'v4' : 'v6'}-${digits}`
}

export function addressKey({ segment, family, value }: SegmentAddress): string {
  return `${segment}|${family}|${value.toString(36)}`
}

export function isSameHolder(a: AddressHolder | undefined, b: AddressHolder | undefined): boolean {
  return a?.uid === b?.uid && a?.network === b?.network && a?.namespace === b?.namespace && a?.name === b?.name
}

/** The holders of a block, by address. Entries that are no address of the block are not ours to judge: left alone. */
export function readHolders(
  block: AddressBlock,
): readonly { readonly spot: SegmentAddress; readonly holder: AddressHolder }[] {
  const { segment } = block.spec
  return Object.entries(block.spec.holders ?? {}).flatMap(([text, holder]) => {
    const read = parseAddress(text)
    return read ? [{ spot: { segment, ...read }, holder: parseHolder(holder) }] : []
  })
}

/** One change of the ledger: a new holder, or none. */
export interface LedgerChange {
  readonly spot: SegmentAddress
  readonly holder: AddressHolder | undefined
  /** On whose behalf, as `namespace/name`. */
  readonly owner: string
}

/** The block after the changes. The caller writes it with the version of `block`, or creates it. */
export function applyChanges(
  id: BlockId,
  block: AddressBlock | undefined,
  changes: readonly LedgerChange[],
): AddressBlock {
  const holders = { ...block?.spec.holders }
  for (const { spot, holder } of changes) {
    const text = formatAddress(spot)
    if (holder) holders[text] = formatHolder(holder)
    else delete holders[text]
  }
  return {
    ...(block ?? { ...addressBlocks, metadata: { name: blockName(id) } }),
    spec: { segment: id.segment, first: formatAddress({ family: id.family, value: id.first }), holders },
  }
}
