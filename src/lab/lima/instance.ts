/** A node as Lima's definition of a VM: self-contained, explicit, and about this node only. */
import { writeYaml } from '../../yaml/write.ts'
import type { Lab, LabNode } from '../lab.ts'
import { banner, type TreeFile } from '../tree.ts'
import { buildProvision } from './provision.ts'

/** Older ones boot from a random disk when there are extra ones. */
export const LIMA_VERSION = '2.2.0'

export function buildInstance(lab: Lab, node: LabNode, publicKey: string): object {
  return {
    minimumLimaVersion: LIMA_VERSION,
    vmType: 'qemu',
    arch: lab.arch,
    vmOpts: { qemu: { minimumVersion: '8.2.1', cpuType: { [lab.arch]: 'host' } } },
    images: buildImages(lab),
    cpus: node.cpus,
    memory: `${node.memory}GiB`,
    disk: `${node.disk}GiB`,
    ...(node.disks.length > 0 && {
      // Raw: LVM and Ceph want disks that nobody formatted.
      additionalDisks: node.disks.map((disk) => ({ name: disk.name, format: false })),
    }),
    mounts: [],
    containerd: { system: false, user: false },
    ssh: { localPort: 0, loadDotSSHPubKeys: false, forwardAgent: false },
    user: { name: lab.user, uid: 1000, home: `/home/${lab.user}`, shell: '/bin/bash' },
    video: { display: 'none' },
    // No guest agent, no port forwards, no mounts: three nodes would fight for the same ports of the host.
    plain: true,
    networks: node.nics.map((nic) => ({
      lima: lab.networks[nic.network].lima,
      macAddress: nic.mac,
      interface: nic.interface,
    })),
    provision: buildProvision(lab, node, publicKey),
  }
}

function buildImages(lab: Lab): readonly object[] {
  const { image, arch } = lab
  const digest = image.sha256 === undefined ? {} : { digest: `sha256:${image.sha256}` }
  if (image.kind === 'path') return [{ location: image.path, arch, ...digest }]
  const name = `ubuntu-24.04-server-cloudimg-${arch === 'aarch64' ? 'arm64' : 'amd64'}.img`
  const base = 'https://cloud-images.ubuntu.com/releases/noble'
  const dated = { location: `${base}/release-${image.date}/${name}`, arch, ...digest }
  return image.fallback ? [dated, { location: `${base}/release/${name}`, arch }] : [dated]
}

export function instanceFile(lab: Lab, node: LabNode, publicKey: string): TreeFile {
  const head = banner(`${node.name}: ${node.roles.join(', ')}`)
  return { path: instancePath(node), text: head + writeYaml(buildInstance(lab, node, publicKey)) }
}

export function instancePath(node: LabNode): string {
  return `lima/${node.file}.yaml`
}
