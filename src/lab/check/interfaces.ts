/** Interfaces: names that everybody can live with, a raw port that is raw, and networks that reach who needs them. */
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
  return [...names(context), ...rawPort(context), ...macs(context), ...reach(context)]
}

function names({ lab, at }: CheckContext): readonly Finding[] {
  const found: Finding[] = []
  const seen = new Map<string, string>()
  const uses = networkNames.flatMap((network) => {
    const { interface: name, vipInterface } = lab.networks[network]
    const own = { network, name, field: 'interface' }
    return network === 'external' ? [own, { network, name: vipInterface, field: 'vipInterface' }] : [own]
  })
  for (const { network, name, field } of uses) {
    const where = at('networks', network, field)
    const why = whyNotInterface(name)
    if (why) found.push(finding(invalidInterfaceName, { network, name, why }, { where }))
    const first = seen.get(name)
    if (first !== undefined && first !== network)
      found.push(finding(duplicateInterfaceName, { name, first, second: network }, { where }))
    else seen.set(name, network)
  }
  return found
}

function whyNotInterface(name: string): string | undefined {
  if (Buffer.byteLength(name) > 15) return 'it is longer than 15 bytes'
  if (name === 'eth0') return "it is Lima's own, with the same address in all VMs"
  if (name.includes('-')) return 'Ansible turns dashes into underscores, and Kolla then finds no facts for it'
  if (/^(docker|ovs|lima|veth|lo$|br)/.test(name)) return 'names like this belong to Docker, Open vSwitch or Lima'
  return /^[a-z][a-z0-9_]*$/.test(name) ? undefined : 'lower case letters and digits only'
}

function rawPort({ lab, at }: CheckContext): readonly Finding[] {
  const { interface: raw, vipInterface } = lab.networks.external
  const found: Finding[] = []
  if (raw === vipInterface)
    found.push(finding(vipOnRawPort, { interface: raw }, { where: at('networks', 'external', 'vipInterface') }))
  lab.nodes.forEach((node, index) => {
    const nic = node.nics.find((nic) => nic.network === 'external' && nic.interface === raw)
    if (nic?.address === undefined) return
    const facts = { node: node.name, interface: raw, address: nic.address }
    found.push(finding(addressOnRawPort, facts, { where: at('nodes', index, 'addresses', raw) }))
  })
  return found
}

function macs({ lab, at }: CheckContext): readonly Finding[] {
  const found: Finding[] = []
  const seen = new Map<string, string>()
  lab.nodes.forEach((node, index) => {
    const twice = node.nics.find((nic) => seen.has(nic.mac))
    if (twice) {
      const facts = {
        what: `${node.name} ${twice.interface}`,
        value: twice.mac,
        first: seen.get(twice.mac) ?? '',
      }
      found.push(finding(duplicateMac, facts, { where: at('nodes', index, 'host') }))
    }
    for (const nic of node.nics) if (!seen.has(nic.mac)) seen.set(nic.mac, `${node.name} ${nic.interface}`)
  })
  return found
}

function reach({ lab, at }: CheckContext): readonly Finding[] {
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
    const left = nodesWithRole(lab, role).some((node) => !node.nics.some((nic) => nic.network === network))
    return left
      ? [finding(networkNotAttached, { role, network, why }, { where: at('networks', network, 'attached') })]
      : []
  })
}
