/** DNSData (network.openstack.org/v1beta1): hosts that a cloud's dnsmasq is to know. */
import * as z from 'zod'
import type { KindDefinition } from './crd.ts'
import { conditionSchema } from './ipset.ts'
import { networkGroup } from './netconfig.ts'
import type { Condition, SpecObject } from './object.ts'

const DEFAULT_SELECTOR = 'dnsdata'

/** Which DNSMasq serves it: the one whose value is the same, whatever the case. */
export const selectorSchema = z.string().default(DEFAULT_SELECTOR)

/** Printer columns read the first condition: Ready comes first. */
export const readyColumns = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[0].status', description: 'Ready' },
  { name: 'Message', type: 'string', jsonPath: '.status.conditions[0].message', description: 'Message' },
] as const

const hostSchema = z.object({
  // Upstream takes any text here: what is no address is reported, not refused.
  ip: z.string().describe('an IPv4 or IPv6 address'),
  hostnames: z.array(z.string()).describe('every name that answers with it'),
})

const dnsDataSpecSchema = z.object({
  dnsDataLabelSelectorValue: selectorSchema,
  hosts: z.array(hostSchema).optional(),
})

export type DnsHost = z.infer<typeof hostSchema>

export interface DnsDataStatus {
  readonly conditions?: readonly Condition[]
  readonly hash?: string
  readonly observedGeneration?: number
}

export type DnsData = SpecObject<Partial<z.infer<typeof dnsDataSpecSchema>>, DnsDataStatus>

export const dnsDataKind: KindDefinition = {
  ...networkGroup,
  kind: 'DNSData',
  plural: 'dnsdata',
  scope: 'Namespaced',
  spec: dnsDataSpecSchema,
  status: z.object({
    conditions: z.array(conditionSchema).optional(),
    hash: z.string().optional(),
    observedGeneration: z.int().meta({ format: 'int64' }).optional(),
  }),
  columns: readyColumns,
}
