/**
 * Parses the hosts of an inventory, on which no two runs may be active at once.
 *
 * Pure. It reads the YAML that our controllers write and common INI; a run with any other inventory gets all hosts to
 * itself.
 */
import { tooLarge } from '../../errors/file.ts'
import { readYaml } from '../../yaml/read.ts'
import { UNSAFE_TAG } from '../rules/unsafe-values.ts'

/** Addresses by inventory name; the name itself where there is no address. */
export type InventoryHosts = ReadonlyMap<string, string>

/** Parsing more would delay all other controllers. The inventory of a role with hundreds of hosts has more. */
const MAX_TOKENS = 50_000

/** Undefined when the hosts are unknown. */
export function parseInventory(text: string): InventoryHosts | undefined {
  const { value, findings } = readYaml(text, 'inventory', { textTags: [UNSAFE_TAG], tokens: MAX_TOKENS })
  if (findings.some(({ code }) => code === tooLarge.code)) return scanRoleHosts(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return parseYamlHosts(value as Group)
  return parseIniHosts(text)
}

/** All hosts of several inventories, as Ansible reads a folder of them. */
export function parseInventories(texts: readonly string[]): InventoryHosts | undefined {
  const inventories = texts.map(parseInventory)
  if (inventories.includes(undefined)) return undefined
  return new Map(inventories.flatMap((hosts) => [...(hosts ?? [])]))
}

/** The addresses that a run targets: the whole inventory, or its limit. */
export function targetAddresses(
  hosts: InventoryHosts | undefined,
  limit: readonly string[] | undefined,
): readonly string[] | undefined {
  if (!hosts) return undefined
  if (!limit) return [...new Set(hosts.values())].toSorted()
  const addresses = limit.map((name) => hosts.get(name))
  // A limit may name a group, whose hosts are unknown here.
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
      // A host may be in several groups, with its address in one of them.
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

/**
 * The hosts of a role's inventory in the layout of `renderRoleInventory`, by lines: four columns per level, one group,
 * and its hosts last. Undefined for any other layout.
 */
function scanRoleHosts(text: string): InventoryHosts | undefined {
  const start = text.indexOf('\n    hosts:\n')
  if (start < 0 || !isRoleHead(text.slice(0, start).split('\n'))) return undefined
  const found = new Map<string, string>()
  let name: string | undefined
  for (const line of text.slice(start).split('\n').slice(2)) {
    if (/^$|^ {13}/.test(line)) continue
    const host = /^ {8}([\w.-]+):$/.exec(line)?.[1]
    const variable = /^ {12}([^:]+):/.exec(line)?.[1]
    const address = /^ {12}ansible_host: "?([\w.:-]+)"?$/.exec(line)?.[1]
    name = host ?? name
    if (name === undefined || (host === undefined && variable === undefined)) return undefined
    if (variable === 'ansible_host' && address === undefined) return undefined
    found.set(name, address ?? found.get(name) ?? name)
  }
  return found
}

/** Before the hosts a group has only variables, which are indented further. */
function isRoleHead([group = '', vars, ...rest]: readonly string[]): boolean {
  const isVars = vars === undefined || vars === '    vars:'
  return /^[\w.-]+:$/.test(group) && isVars && rest.every((line) => line === '' || line.startsWith(' '.repeat(8)))
}

function parseIniHosts(text: string): InventoryHosts | undefined {
  const found = new Map<string, string>()
  let listing = true
  for (const line of text.split('\n').map((row) => row.trim())) {
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
