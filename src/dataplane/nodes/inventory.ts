/**
 * Renders inventories in upstream's layout: playbooks and people rely on its names and keys.
 *
 * Pure. A role's inventory has the variables that its nodes share in the group, and those of each node at the host; a
 * node's inventory has all of them at the host.
 */
import { stringify } from 'yaml'
import type { DataPlaneNode, DataPlaneRole, NodeSection } from '../kinds/data-plane.ts'
import { type EffectiveNode, parseAnsibleVars } from '../rules/inheritance.ts'
import { markUnsafe } from '../rules/unsafe-values.ts'

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

/** All variables of a host: rendered into a node's inventory, and part of the hashed inputs. */
export function buildHostVars(effective: EffectiveNode, addresses: HostVars = {}): HostVars {
  const { ansibleUser, ansiblePort, managementNetwork, networkTemplate, networks, vars } = effective
  return {
    ansible_host: ansibleAddress(effective, addresses),
    ...(ansibleUser && { ansible_user: ansibleUser }),
    // Upstream writes a string here, and a number in a role's inventory.
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

/** How Ansible reaches the host: `ansibleHost`, else its address in the management network, else its name. */
export function ansibleAddress(effective: EffectiveNode, addresses: HostVars): string {
  const { ansibleHost, hostName } = effective
  const granted = addresses[`${managementNetworkName(effective)}_ip`]
  return ansibleHost || (typeof granted === 'string' ? granted : '') || hostName
}

export function renderNodeInventory(effective: EffectiveNode, addresses: HostVars = {}): InventoryFiles {
  // Variables that a person wrote for Ansible may contain expressions; every other value is only text.
  const vars = { ...markUnsafe(buildHostVars(effective, addresses)), ...effective.vars }
  const hosts = { [effective.name]: vars }
  return { [INVENTORY_KEY]: formatYaml({ all: { hosts } }), [NETWORK_KEY]: effective.networkTemplate }
}

/** The variables of one section: of a role for its group, of a node for its host. */
function sectionVars(section: NodeSection): HostVars {
  const { ansibleUser, ansiblePort, managementNetwork, networkConfig, networks, ansibleVars } = section
  const values = {
    ...(ansibleUser && { ansible_user: ansibleUser }),
    ...(ansiblePort && { ansible_port: ansiblePort }),
    ...(managementNetwork && { management_network: managementNetwork }),
    ...(networkConfig?.template && { edpm_network_config_template: TEMPLATE_PATH }),
    ...(networks && networks.length > 0 && { networks }),
  }
  return { ...markUnsafe(values), ...parseAnsibleVars(ansibleVars) }
}

/** One host of a role's inventory, indented for `hosts:`. Rendered once per node: a role may have thousands. */
export function renderRoleHost(effective: EffectiveNode, node: DataPlaneNode, addresses: HostVars = {}): string {
  // At the host they would win over the group: variables that a person set for the role must win over them.
  const granted = Object.entries(addresses).filter(([name]) => !(name in effective.vars))
  const values = { ansible_host: ansibleAddress(effective, addresses), ...Object.fromEntries(granted) }
  const vars = { ...markUnsafe(values), ...sectionVars(node.spec.node ?? {}) }
  return indent(formatYaml({ [node.metadata.name]: vars }), 8)
}

/** `hosts` are rendered by `renderRoleHost`, in the order of their names. */
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

/** Four columns per level and sorted keys, as Go's YAML writer formats. */
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

interface NodeInputs {
  readonly effective: EffectiveNode
  readonly addresses: HostVars
}

/** Renders again only when the effective node or its addresses change: nodes are reconciled often and seldom change. */
export function memoizeByNode<V extends NodeInputs, T>(render: (view: V) => T): (view: V) => T {
  const rendered = new WeakMap<EffectiveNode, { readonly addresses: HostVars; readonly value: T }>()
  return (view) => {
    const { effective, addresses } = view
    const known = rendered.get(effective)
    if (known?.addresses === addresses) return known.value
    const value = render(view)
    rendered.set(effective, { addresses, value })
    return value
  }
}
