/**
 * AddressBlock (stackloom.dev/v1alpha1): the stored form of the IPAM ledger, 256 neighbouring addresses each.
 *
 * An address is granted by writing its entry on the version that was read, so that of two writers one is refused.
 * Entries are keyed by address, never by subnet or namespace.
 */
import * as z from 'zod'
import type { KindDefinition } from './crd.ts'
import type { SpecObject } from './object.ts'

const stackloomGroup = { group: 'stackloom.dev', version: 'v1alpha1' } as const

export const addressBlocks = {
  apiVersion: `${stackloomGroup.group}/${stackloomGroup.version}`,
  kind: 'AddressBlock',
} as const

export interface AddressHolder {
  /** Of the IPSet, or of a Reservation that no IPSet has adopted yet. */
  readonly uid: string
  readonly namespace: string
  readonly name: string
  /** As the NetConfig of that namespace names it. */
  readonly network: string
}

/**
 * A holder is one string: the API server checks every value of an object at every write, and 256 strings are cheaper
 * than 256 objects with four fields each.
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
  segment: z
    .string()
    .describe(
      'the L2 domain: `vlan-20` or `untagged`, prefixed with the segment annotation of the NetConfig if it has one',
    ),
  first: z.string().describe('the first address of the block'),
  // Atomic, so that the API server does not track the field manager of each entry, which takes more than the entry.
  holders: z
    .record(z.string(), z.string().regex(/^[^ /]+\/[^ /]+ [^ ]+ [^ ]+$/))
    .describe('by address, as `namespace/name network uid` of the IPSet; an address without an entry is free')
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
