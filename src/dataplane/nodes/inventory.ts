/**
 * Inventories, as upstream's roles and nodes had them: names, keys and layout are what playbooks and people rely on.
 *
 * Pure. A role's inventory holds what its nodes share in the group, and what each has of its own at the host; a node's
 * holds all that counts for it at the host.
 */
import { stringify } from 'yaml'
import type { NodeSection } from '../kinds/data-plane.ts'
import type { DataPlaneNode } from '../kinds/node.ts'
import type { DataPlaneRole } from '../kinds/role.ts'
import { type EffectiveNode, parseAnsibleVars } from '../rules/inheritance.ts'

export const INVENTORY_KEY = 'inventory'
export const NETWORK_KEY = 'network'
/** Where the template of key `network` is mounted. */
export const TEMPLATE_PATH = '/runner/network/nic-config-template'

export type HostVars = Readonly<Record<string, unknown>>

export interface InventoryFiles {
  readonly [INVENTORY_KEY]: string
  readonly [NETWORK_KEY]: string
}

export function roleInventoryName(role: string): string {
  return `dataplanerole-${role}`
}

export function nodeInventoryName(node: string): string {
  return `dataplanenode-${node}`
}

/** What Ansible is told of a host, all in all: its variables in a node's inventory, and what its inputs are made of. */
export function buildHostVars(effective: EffectiveNode, addresses: HostVars = {}): HostVars {
  const { ansibleUser, ansiblePort, managementNetwork, networkTemplate, networks, vars } = effective
  return {
    ansible_host: ansibleAddress(effective, addresses),
    ...(ansibleUser && { ansible_user: ansibleUser }),
    // Upstream writes it as text here, and as a number in a role's inventory.
    ...(ansiblePort && { ansible_port: String(ansiblePort) }),
    ...(managementNetwork && { management_network: managementNetwork }),
    ...(networkTemplate && { edpm_network_config_template: TEMPLATE_PATH }),
    networks,
    ...addresses,
    ...vars,
  }
}

/** The network over which Ansible reaches a node. */
export function managementNetworkName({ managementNetwork }: Pick<EffectiveNode, 'managementNetwork'>): string {
  return (managementNetwork || 'ctlplane').toLowerCase()
}

/** Where Ansible finds the host: as the node says, else at its address in the management network, else by its name. */
export function ansibleAddress(effective: EffectiveNode, addresses: HostVars): string {
  const { ansibleHost, hostName } = effective
  const granted = addresses[`${managementNetworkName(effective)}_ip`]
  return ansibleHost || (typeof granted === 'string' ? granted : '') || hostName
}

export function renderNodeInventory(effective: EffectiveNode, addresses: HostVars = {}): InventoryFiles {
  const hosts = { [effective.name]: buildHostVars(effective, addresses) }
  return {
    [INVENTORY_KEY]: formatYaml({ all: { hosts } }),
    [NETWORK_KEY]: effective.networkTemplate,
  }
}

/** The variables that a section brings along by itself: a role's for its group, a node's for its host. */
function sectionVars(section: NodeSection): HostVars {
  const { ansibleUser, ansiblePort, managementNetwork, networkConfig, networks, ansibleVars } = section
  return {
    ...(ansibleUser && { ansible_user: ansibleUser }),
    ...(ansiblePort && { ansible_port: ansiblePort }),
    ...(managementNetwork && { management_network: managementNetwork }),
    ...(networkConfig?.template && { edpm_network_config_template: TEMPLATE_PATH }),
    ...(networks && networks.length > 0 && { networks }),
    ...parseAnsibleVars(ansibleVars),
  }
}

/** One host of a role's inventory, as text that fits under `hosts:`. Made once per node: a role may have thousands. */
export function renderRoleHost(effective: EffectiveNode, node: DataPlaneNode, addresses: HostVars = {}): string {
  const own = sectionVars(node.spec.node ?? {})
  // At the host they would win over the group: what a person wrote for the whole role must not lose to them.
  const granted = Object.entries(addresses).filter(([name]) => !(name in effective.vars))
  const vars = { ansible_host: ansibleAddress(effective, addresses), ...Object.fromEntries(granted), ...own }
  return indent(formatYaml({ [node.metadata.name]: vars }), 8)
}

/** `hosts` are texts of `roleHostText`, in the order of the nodes' names. */
export function renderRoleInventory(role: DataPlaneRole, hosts: readonly string[]): InventoryFiles {
  const section = role.spec.nodeTemplate ?? {}
  const vars = sectionVars(section)
  const head = Object.keys(vars).length > 0 ? `    vars:\n${indent(formatYaml(vars), 8)}` : ''
  const body = hosts.length > 0 ? `    hosts:\n${hosts.join('')}` : ''
  const all = head + body
  return {
    [INVENTORY_KEY]: all === '' ? `${role.metadata.name}: {}\n` : `${role.metadata.name}:\n${all}`,
    [NETWORK_KEY]: section.networkConfig?.template ?? '',
  }
}

/** Four columns per level and keys in order, as Go's writer does it. */
function formatYaml(value: unknown): string {
  return stringify(value, {
    indent: 4,
    sortMapEntries: true,
    lineWidth: 0,
    version: '1.1',
    aliasDuplicateObjects: false,
  })
}

function indent(text: string, columns: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(columns))
}
