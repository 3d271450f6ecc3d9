/** Reads pins for a site file from NetBox: clouds by tenant, networks by role, and addresses that are in use as reserved. Pure. */
import { asRecord, asString } from '../api/json.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { cidrContains, parseCidr, parsePrefixed } from '../net/cidr.ts'
import { type NetBoxEntry, siteTag } from './entries.ts'
import { unnamedPrefix } from './findings.ts'

export interface ImportedSubnet {
  readonly cidr: string
  readonly gateway?: string
  readonly reserved?: readonly string[]
}

export interface ImportedNetwork {
  readonly vlan?: number
  readonly subnets: readonly ImportedSubnet[]
}

export interface ImportedCloud {
  readonly name: string
  readonly networks: Readonly<Record<string, ImportedNetwork>>
}

export interface PrefixImport {
  readonly clouds: readonly ImportedCloud[]
  readonly findings: readonly Finding[]
}

/** An address with this tag is the gateway of its prefix: NetBox has no field for it. */
const GATEWAY_TAG = 'gateway'

/** `prefixes` are results of NetBox; `addresses` are all addresses in them. */
export function importPrefixes(prefixes: readonly unknown[], addresses: readonly NetBoxEntry[]): PrefixImport {
  const findings: Finding[] = []
  const clouds = new Map<string, Map<string, { vlan?: number; subnets: ImportedSubnet[] }>>()
  for (const value of prefixes) {
    const result = asRecord(value)
    const prefix = asString(result['prefix']) ?? ''
    const cloud = asString(asRecord(result['tenant'])['slug'])
    const network = asString(asRecord(result['role'])['slug'])
    if (cloud === undefined || network === undefined || !parseCidr(prefix)) {
      const missing = cloud === undefined ? 'tenant' : network === undefined ? 'role' : 'valid prefix'
      findings.push(finding(unnamedPrefix, { prefix, missing }))
      continue
    }
    const { vid } = asRecord(result['vlan'])
    const networks = clouds.get(cloud) ?? new Map<string, { vlan?: number; subnets: ImportedSubnet[] }>()
    const entry = networks.get(network) ?? { subnets: [] }
    if (typeof vid === 'number') entry.vlan = vid
    entry.subnets.push(importSubnet(prefix, addresses))
    networks.set(network, entry)
    clouds.set(cloud, networks)
  }
  return {
    clouds: [...clouds].map(([name, networks]) => ({ name, networks: Object.fromEntries(networks) })),
    findings,
  }
}

/** Addresses that Stackloom itself exported are planned, not reserved. */
function importSubnet(prefix: string, addresses: readonly NetBoxEntry[]): ImportedSubnet {
  const network = parseCidr(prefix)
  const inside = addresses.filter(({ fields }) => {
    const parsed = parsePrefixed(String(fields['address']))
    return network !== undefined && parsed !== undefined && cidrContains(network, parsed.address)
  })
  const gateway = inside.find(({ tags }) => tags.includes(GATEWAY_TAG))?.key
  const reserved = inside
    .filter(({ key, tags }) => key !== gateway && !tags.some((tag) => tag.startsWith(siteTag(''))))
    .map(({ key }) => key)
  return { cidr: prefix, ...(gateway !== undefined && { gateway }), ...(reserved.length > 0 && { reserved }) }
}
