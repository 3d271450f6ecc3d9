/**
 * DNSMasq (network.openstack.org/v1beta1), a DNS server for one cloud: its kind and its rules. Pure.
 *
 * Both ways to expose it are served: `override.service` of the current API, `externalEndpoints` of its first version.
 */
import * as z from 'zod'
import { parseAddress } from '../net/address.ts'
import { parsePrefixed } from '../net/cidr.ts'
import type { KindDefinition } from './crd.ts'
import { readyColumns, selectorSchema } from './dnsdata.ts'
import { conditionSchema } from './ipset.ts'
import { networkGroup } from './netconfig.ts'
import type { Condition, SpecObject } from './object.ts'
import type { Violation } from './violation.ts'

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
  loadBalancerIPs: z.array(z.string()).optional().describe('addresses of that pool; any address by default'),
  sharedIP: z.boolean().default(true).describe('whether other Services may have the same address'),
  sharedIPKey: z
    .string()
    .default('')
    .describe('Services with the same key share the address; the name of the pool by default'),
})

const reference = z.object({ name: z.string().optional(), namespace: z.string().optional() })

const dnsMasqSpecSchema = z.object({
  replicas: int32.default(1),
  options: z.array(optionSchema).optional(),
  containerImage: z.string().optional(),
  dnsDataLabelSelectorValue: selectorSchema,
  nodeSelector: texts.optional(),
  override: z.object({ service: serviceOverrideSchema.optional() }).optional(),
  // Each of them is a Service.
  externalEndpoints: z.array(externalEndpointSchema).max(64).optional(),
  topologyRef: reference.optional(),
  debug: z.object({ service: z.boolean().default(false) }).optional(),
})

export type DnsOption = z.infer<typeof optionSchema>
export type ServiceOverride = z.infer<typeof serviceOverrideSchema>
export type ExternalEndpoint = z.input<typeof externalEndpointSchema>
/** Defaults are set by the API server, so a reader may find none of them. */
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

/**
 * The rules beyond the schema, for webhook and controller. An option becomes one line of dnsmasq's configuration,
 * `key=value,value`: a line break in a value would be a second directive, and dnsmasq does not start with a value that it
 * cannot parse.
 */
export function dnsMasqViolations(spec: DnsMasqSpec, namespace: string): readonly Violation[] {
  const violations: Violation[] = []
  for (const [index, option] of (spec.options ?? []).entries()) {
    // A reader needs no more, and a list may have a hundred thousand values.
    if (violations.length >= MAX_VIOLATIONS) break
    for (const { index: valueIndex, value, detail } of optionProblems(option)) {
      const field = `spec.options[${index}].values${valueIndex === undefined ? '' : `[${valueIndex}]`}`
      violations.push({ field, value, detail: `${option.key}: ${detail}`, rule: 'own' })
    }
  }
  const topologyNamespace = spec.topologyRef?.namespace
  if (!topologyNamespace || topologyNamespace === namespace) return violations
  const detail = 'customizing namespace field is not supported'
  return [...violations, { field: 'spec.topologyRef.namespace', value: topologyNamespace, detail, rule: 'upstream' }]
}

const MAX_VIOLATIONS = 100

interface OptionProblem {
  /** Of the value; absent when the list itself is wrong. */
  readonly index?: number
  readonly value: unknown
  readonly detail: string
}

function optionProblems({ key, values }: DnsOption): readonly OptionProblem[] {
  const valueProblems: OptionProblem[] = []
  for (const [index, value] of values.entries()) {
    const detail = textProblem(value)
    if (detail !== undefined) valueProblems.push({ index, value, detail })
    if (valueProblems.length >= MAX_VIOLATIONS) break
  }
  if (valueProblems.length > 0) return valueProblems
  const detail = optionChecks[key]?.(values)
  return detail === undefined ? [] : [{ value: values, detail }]
}

/** What is wrong in a value, whichever option it belongs to. */
function textProblem(value: string): string | undefined {
  if (/[\r\n]/.test(value)) return 'a line break would start another directive'
  if (/\p{Cc}/u.test(value)) return 'a control character is not allowed'
  if ((value.match(/(?<!\\)"/g) ?? []).length % 2 === 1) return 'a quotation mark is not closed'
  if (/(^|\s)#/.test(value.replace(/"[^"]*"/g, '""'))) return 'a # starts a comment: the rest is not read'
  return undefined
}

type OptionCheck = (values: readonly string[]) => string | undefined

const optionChecks: Readonly<Partial<Record<OptionKey, OptionCheck>>> = {
  server: (values) => onlyOne(values) ?? serverProblem(values[0] ?? ''),
  local: (values) => onlyOne(values) ?? serverProblem(values[0] ?? ''),
  'rev-server': ([subnet = '', server = '', ...rest]) => {
    if (rest.length > 0) return 'takes a subnet and a server'
    const [cidr = ''] = subnet.split(',')
    const target = server === '' ? subnet.split(',')[1] : server
    if (!parsePrefixed(cidr.includes('/') ? cidr : `${cidr}/24`)) return `${cidr} is not a subnet`
    return target ? serverProblem(target) : undefined
  },
  'local-ttl': seconds,
  'dhcp-ttl': seconds,
  'max-ttl': seconds,
  'no-negcache': (values) => (values.length > 0 ? 'takes no value' : undefined),
  cname: (values) => (splitValues(values).length < 2 ? 'needs a name and its target' : undefined),
  'host-record': (values) => (splitValues(values).length < 2 ? 'needs a name and an address' : undefined),
  'ptr-record': atLeastOne,
  'txt-record': atLeastOne,
  'srv-host': atLeastOne,
  'naptr-record': atLeastOne,
  'caa-record': atLeastOne,
  'dns-rr': atLeastOne,
  'auth-zone': atLeastOne,
  'synth-domain': atLeastOne,
  'rebind-domain-ok': atLeastOne,
}

/** `values: [a, b]` and `values: ["a,b"]` are the same line. */
function splitValues(values: readonly string[]): readonly string[] {
  return values.join(',').split(',').filter(Boolean)
}

function atLeastOne(values: readonly string[]): string | undefined {
  return splitValues(values).length === 0 ? 'needs a value' : undefined
}

function onlyOne(values: readonly string[]): string | undefined {
  if (values.length === 0) return 'needs a value'
  return values.length > 1 ? 'takes one value; repeat the option for another' : undefined
}

function seconds(values: readonly string[]): string | undefined {
  return values.length === 1 && /^\d+$/.test(values[0] ?? '') ? undefined : 'takes one number of seconds'
}

/** `[/domain/…/][address[#port][@from]]`; `#` alone is the default server. */
function serverProblem(value: string): string | undefined {
  const server = value.startsWith('/') ? value.slice(value.lastIndexOf('/') + 1) : value
  if (value.startsWith('/')) {
    if (!value.slice(1).includes('/')) return `${value} is not closed: /domain/address`
    if (server === '' || server === '#') return undefined
  }
  const [address = ''] = server.split('@')
  const [ip = '', port] = address.split('#')
  if (!parseAddress(ip.split('%', 1)[0] ?? '')) return `${server} is not an address`
  if (port !== undefined && !(/^\d+$/.test(port) && Number(port) <= 65_535)) return `${port} is not a port`
  return undefined
}
