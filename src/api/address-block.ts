/**
 * AddressBlock (stackloom.dev/v1alpha1): who holds which of 256 neighbouring addresses on one segment.
 *
 * The durable side of the IPAM ledger. An address is granted by writing its entry with the version that was read, so
 * that of two who want it one is refused. Entries are keyed by address, never by subnet or namespace.
 */
import * as z from 'zod'
import type { KindDefinition } from './crd.ts'
import type { SpecObject } from './object.ts'

export const stackloomGroup = { group: 'stackloom.dev', version: 'v1alpha1' } as const

const holderSchema = z.object({
  uid: z.string().describe('UID of the IPSet, or of a Reservation that no IPSet has claimed yet'),
  namespace: z.string(),
  name: z.string(),
  network: z.string().describe("the network's name in the NetConfig of that namespace"),
})

const addressBlockSpecSchema = z.object({
  segment: z
    .string()
    .describe('one L2 domain: `vlan-20`, `untagged`, or these after the segment of a NetConfig'),
  first: z.string().describe('the first address of the block'),
  // Atomic: the API server need not keep who wrote which field of which entry, which is more than the entry itself.
  holders: z
    .record(z.string(), holderSchema)
    .describe('by address; what is not here is free')
    .meta({ 'x-kubernetes-map-type': 'atomic' }),
})

export type AddressHolder = Readonly<z.infer<typeof holderSchema>>
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
