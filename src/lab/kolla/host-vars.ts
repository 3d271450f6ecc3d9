/** Variables of single nodes: how to reach them, and which of their interfaces is for what. */
import { writeYaml } from '../../yaml/write.ts'
import { addressOnNetwork, findNic, hasRole, type Lab, type LabNode, usesLvm } from '../lab.ts'
import { banner, type TreeFile } from '../tree.ts'

export function buildHostVars(lab: Lab, node: LabNode): Readonly<Record<string, unknown>> {
  const { external } = lab.networks
  const tunnel = findNic(node, 'tunnel')
  const raw = findNic(node, 'external', external.interface)
  const vip = findNic(node, 'external', external.vipInterface)
  return {
    ansible_host: node.address,
    ansible_user: lab.user,
    // Relative to the inventory: the tree may move.
    ansible_ssh_private_key_file: '{{ inventory_dir }}/../ssh/id_ed25519',
    ansible_ssh_common_args:
      '-o UserKnownHostsFile={{ inventory_dir }}/../ssh/known_hosts -o StrictHostKeyChecking=accept-new',
    ansible_become: true,
    network_interface: lab.networks.management.interface,
    ...(tunnel && { tunnel_interface: tunnel.interface }),
    ...(hasRole(node, 'network') && raw && { neutron_external_interface: raw.interface }),
    ...(hasRole(node, 'network') && vip && { kolla_external_vip_interface: vip.interface }),
    ...(hasRole(node, 'storage') && usesLvm(lab) && { tgtd_interface_address: addressOnNetwork(node, 'storage') }),
    ...lab.overrides.hostVars[node.name],
  }
}

export function hostVarsFiles(lab: Lab): readonly TreeFile[] {
  return lab.nodes.map((node) => ({
    path: `kolla/host_vars/${node.name}.yml`,
    text:
      banner('The only place that works for variables of single nodes: globals.yml beats it, group_vars/all loses.') +
      writeYaml(buildHostVars(lab, node)),
  }))
}
