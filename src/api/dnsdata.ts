/** DNSData (network.openstack.org/v1beta1): hosts that the DNSMasqs of a cloud serve. */
import * as z from 'zod'
import type { KindDefinition } from './crd.ts'
import { conditionSchema } from './ipset.ts'
import { networkGroup } from './netconfig.ts'
import type { Condition, SpecObject } from './object.ts'

const DEFAULT_SELECTOR = 'dnsdata'

/** Selects the DNSMasqs that serve it: those with the same value, ignoring case. */
export const selectorSchema = z.string().default(DEFAULT_SELECTOR)

/** Ready is the first condition. */
export const readyColumns = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[0].status', description: 'Ready' },
  { name: 'Message', type: 'string', jsonPath: '.status.conditions[0].message', description: 'Message' },
] as const

const hostSchema = z.object({
  // Upstream accepts any text here: what is not an address is reported, not refused.
  ip: z.string().describe('an IPv4 or IPv6 address'),
  hostnames: z.array(z.string()).max(1024).describe('the names that resolve to it'),
})

const dnsDataSpecSchema = z.object({
  dnsDataLabelSelectorValue: selectorSchema,
  hosts: z.array(hostSchema).max(8192).optional(),
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
