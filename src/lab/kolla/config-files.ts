/** Renders the files below kolla/config/. Files from `openstack.config` of the lab file replace rendered ones. */
import { addressOnNetwork, type Lab, nodesWithRole, usesLvm } from '../lab.ts'
import { banner, type TreeFile } from '../tree.ts'

export function configFiles(lab: Lab): readonly TreeFile[] {
  const rendered = [novaCompute(), ...(usesLvm(lab) ? cinderTargets(lab) : [])]
  const custom = Object.entries(lab.overrides.config).map(([name, text]) => ({
    path: `kolla/config/${name}`,
    text: text.endsWith('\n') ? text : `${text}\n`,
  }))
  const replaced = new Set(custom.map((file) => file.path))
  return [...rendered.filter((file) => !replaced.has(file.path)), ...custom]
}

/** Kolla's default is host-passthrough, which needs KVM: under emulation no instance would start. */
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

/** The iSCSI address that Cinder gives to compute nodes. It must match tgtd_interface_address. */
function cinderTargets(lab: Lab): readonly TreeFile[] {
  return nodesWithRole(lab, 'storage').map((node) => ({
    path: `kolla/config/cinder/${node.name}/cinder.conf`,
    text: `${banner('iSCSI is served on the storage network; host_vars has tgtd_interface_address to match.')}[lvm-1]
target_ip_address = ${addressOnNetwork(node, 'storage') ?? node.address}
`,
  }))
}
