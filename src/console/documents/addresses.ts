/**
 * Defines the address map: every subnet of every cloud as a bar, and every address of one network.
 * Positions are fractions of the bar (0 to 1), computed here: the page only draws them.
 */
import * as z from 'zod'
import { documentFields, list } from './common.ts'

const spanRole = z.enum(['nodes', 'pods', 'vips', 'hosts'])

const span = z.object({
  id: z.string(),
  role: spanRole,
  start: z.string(),
  end: z.string(),
  from: z.number(),
  to: z.number(),
  /** Text, because IPv6 has more than a number can count. */
  size: z.string(),
  /** Addresses with a planned holder, and with a live one. `live` is absent without a cluster. */
  planned: z.number(),
  live: z.number().optional(),
  /** The larger of both, as a fraction of the size. */
  fraction: z.number(),
})

const subnetBar = z.object({
  /** `rhoso1/internalapi/subnet1` */
  id: z.string(),
  cloud: z.string(),
  network: z.string(),
  subnet: z.string(),
  cidr: z.string(),
  family: z.union([z.literal(4), z.literal(6)]),
  vlan: z.number().optional(),
  segment: z.string().optional(),
  gateway: z.string().optional(),
  pool: z.string().optional(),
  size: z.string(),
  spans: list(span),
  reserved: list(z.object({ id: z.string(), start: z.string(), end: z.string(), from: z.number(), to: z.number() })),
  /** Addresses beside each other that are all planned or not, live or not, right or wrong. */
  runs: list(
    z.object({ from: z.number(), to: z.number(), planned: z.boolean(), live: z.boolean(), problem: z.boolean() }),
  ),
  /** The fullest span. */
  fraction: z.number(),
  /** Addresses that are planned, and nothing in the cluster has them. */
  unused: z.number(),
  /** Addresses with a holder that is not planned, or another one. */
  problems: z.number(),
})

/** `planned`: nothing live was read. `unused`: planned, but nothing has it. `foreign`: something has it that is not planned. */
const addressState = z.enum(['same', 'planned', 'unused', 'foreign', 'differs', 'conflict', 'outside'])

const addressMark = z.object({
  /** The address. */
  id: z.string(),
  position: z.number(),
  kind: z.enum(['gateway', 'node', 'vip', 'host', 'endpoint', 'pod', 'service', 'reserved', 'other']),
  planned: list(z.string()),
  live: list(z.string()),
  state: addressState,
  /** Why the state is what it is, for states that are a problem. */
  reason: z.string().optional(),
})

export const addressesDocument = z.object({
  ...documentFields,
  clouds: list(z.object({ id: z.string(), name: z.string(), namespace: z.string(), fraction: z.number() })),
  /** Names of networks in the order of columns. */
  networks: list(z.string()),
  /** By cloud in the order of `clouds`, then by network. The fullest cloud first. */
  subnets: list(subnetBar),
  /** Whether live addresses are known: without them there is no difference to show. */
  hasLive: z.boolean(),
  supernets: list(
    z.object({
      /** The network. */
      id: z.string(),
      cidr: z.string(),
      prefix: z.number(),
      used: z.string(),
      free: z.string(),
      of: z.string(),
    }),
  ),
  /** Whether one more cloud fits, and what stops it. */
  oneMore: z.object({ fits: z.boolean(), text: z.string() }),
})

export const networkDocument = z.object({
  ...documentFields,
  cloud: z.string(),
  network: z.string(),
  interface: z.string(),
  mtu: z.number(),
  pool: z.string().optional(),
  sharingKey: z.string().optional(),
  hasLive: z.boolean(),
  subnets: list(subnetBar.extend({ marks: list(addressMark) })),
})

export type SubnetBar = z.infer<typeof subnetBar>
export type AddressMark = z.infer<typeof addressMark>
export type AddressesDocument = z.infer<typeof addressesDocument>
export type NetworkDocument = z.infer<typeof networkDocument>
