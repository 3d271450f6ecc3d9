/**
 * Files below kolla/config/: what the services' own configuration needs beyond variables. Ours, and those of the lab
 * file's `openstack.config`, which win.
 */
import { addressOnNetwork, type Lab, nodesWithRole, usesLvm } from '../lab.ts'
import { banner, type TreeFile } from '../tree.ts'

export function configFiles(lab: Lab): readonly TreeFile[] {
  const own = [novaCompute(), ...(usesLvm(lab) ? cinderTargets(lab) : [])]
  const given = Object.entries(lab.overrides.config).map(([name, text]) => ({
    path: `kolla/config/${name}`,
    text: text.endsWith('\n') ? text : `${text}\n`,
  }))
  const replaced = new Set(given.map((file) => file.path))
  return [...own.filter((file) => !replaced.has(file.path)), ...given]
}

/** Kolla renders host-passthrough, which needs KVM; in emulation every instance would fail to start. */
function novaCompute(): TreeFile {
  return {
    path: 'kolla/config/nova/nova-compute.conf',
    text: `${banner('Instances are emulated (TCG): host-passthrough would need KVM.')}[libvirt]
virt_type = qemu
cpu_mode = custom
cpu_models = max
`,
  }
}

/** The other half of tgtd_interface_address: where Cinder tells compute nodes to find a volume. */
function cinderTargets(lab: Lab): readonly TreeFile[] {
  return nodesWithRole(lab, 'storage').map((node) => ({
    path: `kolla/config/cinder/${node.name}/cinder.conf`,
    text: `${banner('iSCSI is served on the storage network; host_vars has tgtd_interface_address to match.')}[lvm-1]
target_ip_address = ${addressOnNetwork(node, 'storage') ?? node.address}
`,
  }))
}
