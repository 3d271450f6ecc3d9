/**
 * Renders a node as Lima's definition of a VM.
 *
 * A definition contains nothing about other nodes: otherwise a new node would replace every VM.
 */
import { quoteShellWord } from '../../errors/shell-words.ts'
import { writeYaml } from '../../yaml/write.ts'
import type { Lab, LabDisk, LabNode } from '../lab.ts'
import { banner, type TreeFile } from '../tree.ts'
import { buildNetplan } from './networks.ts'

/** Older versions boot from a random disk when a VM has additional disks. */
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
      // LVM and Ceph need unformatted disks.
      additionalDisks: node.disks.map((disk) => ({ name: disk.name, format: false })),
    }),
    mounts: [],
    containerd: { system: false, user: false },
    ssh: { localPort: 0, loadDotSSHPubKeys: false, forwardAgent: false },
    user: { name: lab.user, uid: 1000, home: `/home/${lab.user}`, shell: '/bin/bash' },
    video: { display: 'none' },
    // No guest agent, port forwards or mounts: the nodes would forward the same ports of the host.
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

type Provision =
  | {
      readonly mode: 'data'
      readonly path: string
      readonly content: string
      readonly owner: string
      readonly permissions: string
    }
  | { readonly mode: 'system'; readonly script: string }

/**
 * Files and scripts that Lima applies at every boot, so all of them are idempotent. Lima runs them through Go's
 * templates, so none may contain two opening braces.
 */
function buildProvision(lab: Lab, node: LabNode, publicKey: string): readonly Provision[] {
  return [
    data('/etc/netplan/90-stackloom.yaml', writeYaml(buildNetplan(lab, node)), '600'),
    data('/etc/cloud/cloud.cfg.d/99-stackloom.cfg', CLOUD_CFG, '644'),
    data('/etc/stackloom/authorized_key', publicKey, '644'),
    system(identityScript(lab, node)),
    system(TIME_SCRIPT),
    ...node.disks.filter((disk) => disk.use === 'state').map(stateDiskScript),
    ...node.disks.filter((disk) => disk.use === 'lvm').map(volumeGroupScript),
  ]
}

function data(path: string, content: string, permissions: string): Provision {
  return { mode: 'data', path, content, owner: 'root:root', permissions }
}

function system(script: string): Provision {
  return { mode: 'system', script }
}

/** Lima changes the instance id at every boot, so cloud-init would create new host keys and set another hostname. */
const CLOUD_CFG = `preserve_hostname: true
ssh_deletekeys: false
manage_etc_hosts: false
`

function identityScript(lab: Lab, node: LabNode): string {
  const { name, address } = node
  return `#!/bin/sh
set -eu
user=${quoteShellWord(lab.user)}
hostnamectl set-hostname ${quoteShellWord(name)}
grep -q ${quoteShellWord(`^${address} `)} /etc/hosts ||
  echo ${quoteShellWord(`${address} ${name}.${lab.dns.domain} ${name}`)} >> /etc/hosts
keys=/home/$user/.ssh/authorized_keys
install -d -m 700 -o "$user" -g "$user" "/home/$user/.ssh"
touch "$keys"
grep -qxF "$(cat /etc/stackloom/authorized_key)" "$keys" ||
  cat /etc/stackloom/authorized_key >> "$keys"
chown "$user:$user" "$keys"
chmod 600 "$keys"
netplan apply
`
}

/** Plain mode does not synchronise the clock with the host, and prechecks require a synchronised clock. */
const TIME_SCRIPT = `#!/bin/sh
set -eu
[ -e /etc/timezone ] || echo Etc/UTC > /etc/timezone
systemctl enable --now systemd-timesyncd
`

/** Formats the disk only when it is blank. */
function stateDiskScript({ device }: LabDisk): Provision {
  return system(`#!/bin/sh
set -eu
if [ -z "$(blkid -p -o value -s TYPE ${device} || true)" ]; then
  [ "$(dd if=${device} bs=1M count=4 status=none | tr -d '\\000' | wc -c)" = 0 ] ||
    { echo '${device} holds data that is no filesystem: it is left alone' >&2; exit 1; }
  mkfs.ext4 -q -L stackloom-state ${device}
fi
mkdir -p /var/lib/docker
grep -q ' /var/lib/docker ' /etc/fstab ||
  echo 'LABEL=stackloom-state /var/lib/docker ext4 defaults,nofail 0 2' >> /etc/fstab
mountpoint -q /var/lib/docker || mount /var/lib/docker
`)
}

/** Creates the volume group only on a blank disk. */
function volumeGroupScript({ device }: LabDisk): Provision {
  return system(`#!/bin/sh
set -eu
command -v vgs > /dev/null || { apt-get -qq update && apt-get -qq -y install lvm2; }
if ! vgs cinder-volumes > /dev/null 2>&1; then
  if pvs ${device} > /dev/null 2>&1; then
    vgchange -ay
  elif [ -z "$(blkid -p -o value -s TYPE ${device} || true)" ] &&
    [ "$(dd if=${device} bs=1M count=4 status=none | tr -d '\\000' | wc -c)" = 0 ]; then
    pvcreate -q ${device}
    vgcreate -q cinder-volumes ${device}
  else
    echo '${device} holds data and no volume group: it is left alone' >&2
    exit 1
  fi
fi
vgchange -ay cinder-volumes
`)
}
