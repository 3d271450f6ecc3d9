/**
 * DNSMasq (network.openstack.org/v1beta1): a DNS server for one cloud.
 *
 * Both forms in which it is exposed are served: `override.service` of today, `externalEndpoints` of 2023.
 */
import * as z from 'zod'
import type { KindDefinition } from './crd.ts'
import { readyColumns, selectorSchema } from './dnsdata.ts'
import { conditionSchema } from './ipset.ts'
import { networkGroup } from './netconfig.ts'
import type { Condition, SpecObject } from './object.ts'

/** The directives of dnsmasq that a DNSMasq may set. */
export const optionKeys = [
  'server',
  'rev-server',
  'srv-host',
  'txt-record',
  'ptr-record',
  'rebind-domain-ok',
  'naptr-record',
  'cname',
  'host-record',
  'caa-record',
  'dns-rr',
  'auth-zone',
  'synth-domain',
  'no-negcache',
  'local',
  'local-ttl',
  'dhcp-ttl',
  'max-ttl',
] as const

export type OptionKey = (typeof optionKeys)[number]

const optionSchema = z.object({ key: z.enum(optionKeys), values: z.array(z.string()) })
const texts = z.record(z.string(), z.string())
const int32 = z.int().meta({ format: 'int32' })

const serviceOverrideSchema = z.object({
  metadata: z.object({ annotations: texts.optional(), labels: texts.optional() }).optional(),
  spec: z
    .object({
      type: z.string().optional(),
      externalName: z.string().optional(),
      externalTrafficPolicy: z.string().optional(),
      internalTrafficPolicy: z.string().optional(),
      ipFamilyPolicy: z.string().optional(),
      loadBalancerClass: z.string().optional(),
      loadBalancerSourceRanges: z.array(z.string()).meta({ 'x-kubernetes-list-type': 'atomic' }).optional(),
      sessionAffinity: z.string().optional(),
      sessionAffinityConfig: z
        .object({ clientIP: z.object({ timeoutSeconds: int32.optional() }).optional() })
        .optional(),
    })
    .optional(),
})

const externalEndpointSchema = z.object({
  ipAddressPool: z.string().min(1).describe("MetalLB's pool for the address"),
  loadBalancerIPs: z.array(z.string()).optional().describe('addresses of that pool; any one unless said'),
  sharedIP: z.boolean().default(true).describe('other Services may have the same address'),
  sharedIPKey: z.string().default('').describe('with whom it is shared; the name of the pool by default'),
})

const reference = z.object({ name: z.string().optional(), namespace: z.string().optional() })

const dnsMasqSpecSchema = z.object({
  replicas: int32.default(1),
  options: z.array(optionSchema).optional(),
  containerImage: z.string().optional(),
  dnsDataLabelSelectorValue: selectorSchema,
  nodeSelector: texts.optional(),
  override: z.object({ service: serviceOverrideSchema.optional() }).optional(),
  externalEndpoints: z.array(externalEndpointSchema).optional(),
  topologyRef: reference.optional(),
  debug: z.object({ service: z.boolean().default(false) }).optional(),
})

export type DnsOption = z.infer<typeof optionSchema>
export type ServiceOverride = z.infer<typeof serviceOverrideSchema>
export type ExternalEndpoint = z.input<typeof externalEndpointSchema>
/** Defaults are the API server's work, so a reader may find none of them. */
export type DnsMasqSpec = z.input<typeof dnsMasqSpecSchema>

export interface DnsMasqStatus {
  readonly conditions?: readonly Condition[]
  readonly hash?: Readonly<Record<string, string>>
  readonly readyCount?: number
  readonly dnsAddresses?: readonly string[]
  readonly dnsClusterAddresses?: readonly string[]
  readonly observedGeneration?: number
  readonly lastAppliedTopology?: { readonly name?: string; readonly namespace?: string }
}

export type DnsMasq = SpecObject<DnsMasqSpec, DnsMasqStatus>

export const dnsMasqKind: KindDefinition = {
  ...networkGroup,
  kind: 'DNSMasq',
  plural: 'dnsmasqs',
  scope: 'Namespaced',
  spec: dnsMasqSpecSchema,
  status: z.object({
    conditions: z.array(conditionSchema).optional(),
    hash: texts.optional(),
    readyCount: int32.optional(),
    dnsAddresses: z.array(z.string()).optional(),
    dnsClusterAddresses: z.array(z.string()).optional(),
    observedGeneration: z.int().meta({ format: 'int64' }).optional(),
    lastAppliedTopology: reference.optional(),
  }),
  columns: readyColumns,
}
