/**
 * AddressBlock (stackloom.dev/v1alpha1): who holds which of 256 neighbouring addresses on one segment.
 *
 * The durable side of the IPAM ledger. An address is granted by writing its entry with the version that was read, so
 * that of two who want it one is refused. Entries are keyed by address, never by subnet or namespace.
 */
import * as z from 'zod'
import type { KindDefinition } from './crd.ts'
import type { SpecObject } from './object.ts'

const stackloomGroup = { group: 'stackloom.dev', version: 'v1alpha1' } as const

export interface AddressHolder {
  /** Of the IPSet, or of a Reservation that no IPSet has claimed yet. */
  readonly uid: string
  readonly namespace: string
  readonly name: string
  /** Its name in the NetConfig of that namespace. */
  readonly network: string
}

/**
 * A holder is one line of text: the API server checks every value of an object at every write, and a block of 256
 * lines has far fewer of them than one of 256 holders with four fields each.
 */
export function formatHolder({ namespace, name, network, uid }: AddressHolder): string {
  return `${namespace}/${name} ${network} ${uid}`
}

export function parseHolder(text: string): AddressHolder {
  const [owner = '', network = '', uid = ''] = text.split(' ')
  const slash = owner.indexOf('/')
  return { uid, namespace: owner.slice(0, slash), name: owner.slice(slash + 1), network }
}

const addressBlockSpecSchema = z.object({
  segment: z.string().describe('one L2 domain: `vlan-20`, `untagged`, or these after the segment of a NetConfig'),
  first: z.string().describe('the first address of the block'),
  // Atomic: the API server need not keep who wrote which field of which entry, which is more than the entry itself.
  holders: z
    .record(z.string(), z.string().regex(/^[^ /]+\/[^ /]+ [^ ]+ [^ ]+$/))
    .describe('by address, as `namespace/name network uid` of its IPSet; what is not here is free')
    .meta({ 'x-kubernetes-map-type': 'atomic' }),
})

export type AddressBlockSpec = z.infer<typeof addressBlockSpecSchema>
export type AddressBlock = SpecObject<AddressBlockSpec>

export const addressBlockKind: KindDefinition = {
  ...stackloomGroup,
  kind: 'AddressBlock',
  plural: 'addressblocks',
  scope: 'Cluster',
  spec: addressBlockSpecSchema,
  columns: [
    { name: 'Segment', type: 'string', jsonPath: '.spec.segment' },
    { name: 'First', type: 'string', jsonPath: '.spec.first' },
  ],
}
