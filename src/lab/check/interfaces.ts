/** Checks interfaces: valid names, a raw port without addresses, unique MACs, and networks on all nodes that need them. */
import { type NetworkName, type NodeRole, networkNames } from '../../api/lab.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import {
  addressOnRawPort,
  duplicateInterfaceName,
  duplicateMac,
  invalidInterfaceName,
  networkNotAttached,
  vipOnRawPort,
} from '../findings/lab-file.ts'
import { nodesWithRole, usesCeph } from '../lab.ts'
import type { CheckContext } from './check-lab.ts'

export function checkInterfaces(context: CheckContext): readonly Finding[] {
  return [...checkNames(context), ...checkRawPort(context), ...checkMacs(context), ...checkAttachment(context)]
}

function checkNames({ lab, locate }: CheckContext): readonly Finding[] {
  const found: Finding[] = []
  const seen = new Map<string, string>()
  const uses = networkNames.flatMap((network) => {
    const { interface: name, vipInterface } = lab.networks[network]
    const port = { network, name, field: 'interface' }
    return network === 'external' ? [port, { network, name: vipInterface, field: 'vipInterface' }] : [port]
  })
  for (const { network, name, field } of uses) {
    const where = locate('networks', network, field)
    const why = explainInvalidName(name)
    if (why) found.push(finding(invalidInterfaceName, { network, name, why }, { where }))
    const first = seen.get(name)
    if (first !== undefined && first !== network)
      found.push(finding(duplicateInterfaceName, { name, first, second: network }, { where }))
    else seen.set(name, network)
  }
  return found
}

function explainInvalidName(name: string): string | undefined {
  if (Buffer.byteLength(name) > 15) return 'it is longer than 15 bytes'
  if (name === 'eth0') return 'Lima uses it, with the same address in all VMs'
  if (name.includes('-')) return 'Ansible turns dashes into underscores, and Kolla then finds no facts for it'
  if (/^(docker|ovs|lima|veth|lo$|br)/.test(name)) return 'Docker, Open vSwitch and Lima use such names'
  return /^[a-z][a-z0-9_]*$/.test(name) ? undefined : 'only lower case letters, digits and underscores are allowed'
}

function checkRawPort({ lab, locate }: CheckContext): readonly Finding[] {
  const { interface: raw, vipInterface } = lab.networks.external
  const found: Finding[] = []
  if (raw === vipInterface)
    found.push(finding(vipOnRawPort, { interface: raw }, { where: locate('networks', 'external', 'vipInterface') }))
  lab.nodes.forEach((node, index) => {
    const nic = node.nics.find(({ network, interface: name }) => network === 'external' && name === raw)
    if (nic?.address === undefined) return
    const facts = { node: node.name, interface: raw, address: nic.address }
    found.push(finding(addressOnRawPort, facts, { where: locate('nodes', index, 'addresses', raw) }))
  })
  return found
}

function checkMacs({ lab, locate }: CheckContext): readonly Finding[] {
  const found: Finding[] = []
  const seen = new Map<string, string>()
  lab.nodes.forEach((node, index) => {
    const duplicate = node.nics.find((nic) => seen.has(nic.mac))
    if (duplicate) {
      const { interface: name, mac } = duplicate
      const facts = { what: `${node.name} ${name}`, value: mac, first: seen.get(mac) ?? '' }
      found.push(finding(duplicateMac, facts, { where: locate('nodes', index, 'host') }))
    }
    for (const nic of node.nics) if (!seen.has(nic.mac)) seen.set(nic.mac, `${node.name} ${nic.interface}`)
  })
  return found
}

function checkAttachment({ lab, locate }: CheckContext): readonly Finding[] {
  const needs: readonly (readonly [NodeRole, NetworkName, string])[] = [
    ...(['control', 'network', 'monitoring', 'compute', 'storage'] as const).map(
      (role) => [role, 'management', 'Ansible could not reach its nodes'] as const,
    ),
    ['network', 'tunnel', 'instances could not reach a router'],
    ['compute', 'tunnel', 'instances could not talk to each other'],
    ['network', 'external', 'there would be no floating addresses and no external VIP'],
    ['compute', 'storage', 'no volume could be attached'],
    ['storage', 'storage', 'no volume could be served'],
    ...(usesCeph(lab) ? ([['ceph-mon', 'storage', 'the monitor could not see the OSDs']] as const) : []),
  ]
  return needs.flatMap(([role, network, why]) => {
    const detached = nodesWithRole(lab, role).some((node) => !node.nics.some((nic) => nic.network === network))
    return detached
      ? [finding(networkNotAttached, { role, network, why }, { where: locate('networks', network, 'attached') })]
      : []
  })
}
