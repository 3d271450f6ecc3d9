/** Renders Kolla's inventory (nodes by role, with every group that prechecks require) and the host variables. */
import { writeYaml } from '../../yaml/write.ts'
import { addressOnNetwork, findNic, hasRole, type Lab, type LabNode, usesLvm } from '../lab.ts'
import { banner, type TreeFile } from '../tree.ts'
import { childGroups, topGroups } from './release.ts'

export function inventoryFile(lab: Lab): TreeFile {
  const tops = topGroups.map((group) => {
    const members = lab.nodes.filter((node) => (node.roles as readonly string[]).includes(group))
    return renderSection(
      group,
      members.map((node) => node.name),
    )
  })
  const children = childGroups.map(({ name, members }) => renderSection(`${name}:children`, members))
  const head = banner(
    'Variables of nodes are in host_vars/. [group:vars] has no effect: it loses against the defaults of Kolla-Ansible.',
    '[deployment] is empty on purpose: prechecks would take this machine for a node.',
  )
  return { path: 'kolla/multinode', text: `${head}\n${[...tops, ...children].join('\n')}` }
}

function renderSection(name: string, lines: readonly string[]): string {
  return `[${name}]\n${lines.map((line) => `${line}\n`).join('')}`
}

export function hostVarsFiles(lab: Lab): readonly TreeFile[] {
  const head = banner(
    'The only place that works for variables of single nodes: globals.yml beats it, group_vars/all loses.',
  )
  return lab.nodes.map((node) => ({
    path: `kolla/host_vars/${node.name}.yml`,
    text: head + writeYaml(buildHostVars(lab, node)),
  }))
}

export function buildHostVars(lab: Lab, node: LabNode): Readonly<Record<string, unknown>> {
  const { external } = lab.networks
  const tunnel = findNic(node, 'tunnel')
  const raw = findNic(node, 'external', external.interface)
  const vip = findNic(node, 'external', external.vipInterface)
  return {
    ansible_host: node.address,
    ansible_user: lab.user,
    // Relative to the inventory, so that the tree can be moved.
    ansible_ssh_private_key_file: '{{ inventory_dir }}/../ssh/id_ed25519',
    // Ansible splits it into words, and ssh splits the value again: the folder may contain blanks.
    ansible_ssh_common_args: `-o 'UserKnownHostsFile="{{ inventory_dir }}/../ssh/known_hosts"' -o StrictHostKeyChecking=accept-new`,
    ansible_become: true,
    network_interface: lab.networks.management.interface,
    ...(tunnel && { tunnel_interface: tunnel.interface }),
    ...(hasRole(node, 'network') && raw && { neutron_external_interface: raw.interface }),
    ...(hasRole(node, 'network') && vip && { kolla_external_vip_interface: vip.interface }),
    ...(hasRole(node, 'storage') && usesLvm(lab) && { tgtd_interface_address: addressOnNetwork(node, 'storage') }),
    ...lab.overrides.hostVars[node.name],
  }
}
