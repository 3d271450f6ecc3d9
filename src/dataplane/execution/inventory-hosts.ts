/**
 * The hosts of an inventory: who must not be worked on by two runs at once.
 *
 * Pure. Reads the YAML that our controllers write and the usual INI; of what it does not understand it says so, and
 * such a run has every host to itself.
 */
import { readYaml } from '../../yaml/read.ts'

/** By name in the inventory, the address that is dialled (the name where there is none). */
export type InventoryHosts = ReadonlyMap<string, string>

/** Undefined: which hosts it has is not known. */
export function parseInventory(text: string): InventoryHosts | undefined {
  const { value } = readYaml(text, 'inventory')
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return parseYamlHosts(value as Group)
  return parseIniHosts(text)
}

/** All hosts of several inventories, as Ansible reads a folder of them. */
export function parseInventories(texts: readonly string[]): InventoryHosts | undefined {
  const all = texts.map(parseInventory)
  if (all.includes(undefined)) return undefined
  return new Map(all.flatMap((one) => [...(one ?? [])]))
}

/** What a run works on: the whole inventory, or what it is limited to. */
export function targetAddresses(
  hosts: InventoryHosts | undefined,
  limit: readonly string[] | undefined,
): readonly string[] | undefined {
  if (!hosts) return undefined
  if (!limit) return [...new Set(hosts.values())].toSorted()
  const addresses = limit.map((name) => hosts.get(name))
  // A limit may name a group: then nothing is known of its size.
  if (addresses.includes(undefined)) return undefined
  return [...new Set(addresses as readonly string[])].toSorted()
}

interface Group {
  readonly [name: string]: unknown
}

function parseYamlHosts(groups: Group): InventoryHosts {
  const found = new Map<string, string>()
  const visit = (group: unknown): void => {
    if (!isGroup(group)) return
    for (const [name, vars] of Object.entries(isGroup(group['hosts']) ? group['hosts'] : {})) {
      const address = isGroup(vars) ? vars['ansible_host'] : undefined
      // A host may stand in several groups, with its address in one of them.
      if (typeof address === 'string') found.set(name, address)
      else if (!found.has(name)) found.set(name, name)
    }
    for (const child of Object.values(isGroup(group['children']) ? group['children'] : {})) visit(child)
  }
  for (const group of Object.values(groups)) visit(group)
  return found
}

function isGroup(value: unknown): value is Group {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseIniHosts(text: string): InventoryHosts | undefined {
  const found = new Map<string, string>()
  let listing = true
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue
    const header = /^\[([^\]]+)\]$/.exec(line)?.[1]
    if (header !== undefined) {
      listing = !/:(vars|children)$/.test(header)
      continue
    }
    if (!listing) continue
    const [name = ''] = line.split(/\s/)
    if (!/^[\w.-]+$/.test(name)) return undefined
    found.set(name, /\sansible_host=["']?([^\s"']+)/.exec(line)?.[1] ?? found.get(name) ?? name)
  }
  return found
}
