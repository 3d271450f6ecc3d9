/** Lists what NetBox should have of a plan, and reads what it has, in one form. Pure. */
import { asList, asRecord, asString } from '../api/json.ts'
import { address as parseKnown } from '../net/address.ts'
import { cidr, cidrContains } from '../net/cidr.ts'
import type { PlanJson, PlannedNetwork, PlannedSubnet } from '../plan/plan.ts'

export type EntryType = 'vlans' | 'prefixes' | 'ip-addresses'

/** In the order in which entries are created: a prefix refers to its VLAN. */
export const entryTypes: readonly EntryType[] = ['vlans', 'prefixes', 'ip-addresses']

/** One VLAN, prefix or address. */
export interface Entry {
  readonly type: EntryType
  /** Equal for the same thing in the plan and in NetBox. */
  readonly key: string
  /** What Stackloom writes; the VLAN of a prefix is the key of its entry. */
  readonly fields: Readonly<Record<string, string | number>>
}

export interface NetBoxEntry extends Entry {
  readonly id: number
  readonly isOurs: boolean
  readonly tags: readonly string[]
}

/** The tag of everything that Stackloom made for a site: another site must not delete it. */
export function siteTag(site: string): string {
  return `stackloom-${site}`
}

const MAX_NAME = 64
const MAX_DESCRIPTION = 200

export function planEntries({ site, clouds }: Pick<PlanJson, 'site' | 'clouds'>): readonly Entry[] {
  const entries = new Map<string, Entry>()
  // Clouds on one segment share its VLAN and prefix: the first one describes it.
  const add = (entry: Entry): void => {
    const id = `${entry.type} ${entry.key}`
    if (!entries.has(id)) entries.set(id, entry)
  }
  for (const { name: cloud, networks } of clouds) {
    for (const network of networks) {
      for (const subnet of network.subnets) {
        const owner = `${cloud}/${network.name}`
        const vid = subnet.vlan ?? network.vlan
        const vlan = vid === undefined ? undefined : vlanEntry(site, owner, vid)
        if (vlan) add(vlan)
        add({
          type: 'prefixes',
          key: subnet.cidr,
          fields: { prefix: subnet.cidr, status: 'active', description: owner, ...(vlan && { vlan: vlan.key }) },
        })
        for (const entry of addressEntries(owner, network, subnet)) add(entry)
      }
    }
  }
  return [...entries.values()]
}

function vlanEntry(site: string, owner: string, vid: number): Entry {
  const name = `${site} ${owner}`.slice(0, MAX_NAME)
  return { type: 'vlans', key: `${vid} ${name}`, fields: { vid, name, status: 'active' } }
}

function addressEntries(owner: string, network: PlannedNetwork, subnet: PlannedSubnet): readonly Entry[] {
  const named = [
    ...network.nodes.map(({ name, address }) => ({ address, what: `node ${name}`, dnsName: '' })),
    ...network.hosts.map(({ name, address, names }) => ({ address, what: `host ${name}`, dnsName: names[0] ?? '' })),
    ...network.endpoints.map(({ name, address }) => ({ address, what: `endpoint ${name}`, dnsName: '' })),
    ...network.vips.map(({ slot, address, shared }) => ({
      address,
      what: shared ? 'VIP' : `VIP ${slot}`,
      dnsName: '',
    })),
  ]
  const within = cidr(subnet.cidr)
  return named
    .filter(({ address }) => cidrContains(within, parseKnown(address)))
    .map(({ address, what, dnsName }) => ({
      type: 'ip-addresses' as const,
      key: address,
      fields: {
        address: `${address}/${within.prefix}`,
        status: 'active',
        description: `${owner} ${what}`.slice(0, MAX_DESCRIPTION),
        dns_name: dnsName,
        ...(what.startsWith('VIP') && { role: 'vip' }),
      },
    }))
}

/** Reads one result of NetBox's REST API. Undefined for what has not the documented form. */
export function readEntry(type: EntryType, value: unknown, tag: string): NetBoxEntry | undefined {
  const result = asRecord(value)
  const { id } = result
  const tags = asList(result['tags']).flatMap((item) => asString(asRecord(item)['slug']) ?? [])
  const found = readFields(type, result)
  if (typeof id !== 'number' || !found) return undefined
  return { type, id, tags, isOurs: tags.includes(tag), ...found }
}

/** A choice is `{value, label}` in answers and the value in requests. */
function choice(value: unknown): string {
  return asString(asRecord(value)['value']) ?? asString(value) ?? ''
}

function readFields(
  type: EntryType,
  result: Readonly<Record<string, unknown>>,
): Pick<Entry, 'key' | 'fields'> | undefined {
  const description = asString(result['description']) ?? ''
  const status = choice(result['status'])
  if (type === 'vlans') {
    const { vid } = result
    const name = asString(result['name'])
    return typeof vid === 'number' && name !== undefined
      ? { key: `${vid} ${name}`, fields: { vid, name, status } }
      : undefined
  }
  if (type === 'prefixes') {
    const prefix = asString(result['prefix'])
    const { vid, name } = asRecord(result['vlan'])
    const vlan = typeof vid === 'number' ? { vlan: `${vid} ${asString(name) ?? ''}` } : {}
    return prefix === undefined ? undefined : { key: prefix, fields: { prefix, status, description, ...vlan } }
  }
  const address = asString(result['address'])
  const role = choice(result['role'])
  if (address === undefined) return undefined
  const dnsName = asString(result['dns_name']) ?? ''
  return {
    key: address.split('/')[0] ?? '',
    fields: { address, status, description, dns_name: dnsName, ...(role !== '' && { role }) },
  }
}
