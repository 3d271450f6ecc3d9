/**
 * What happens in a node at every boot: the files and scripts of its Lima definition. All of it is idempotent.
 *
 * A definition knows its own node only: a new neighbour must not change it, or every VM would have to be replaced.
 * Lima runs contents through Go's templates, so nothing here may contain two opening braces.
 */
import { writeYaml } from '../../yaml/write.ts'
import type { Lab, LabDisk, LabNode } from '../lab.ts'
import { buildNetplan } from './netplan.ts'

export type Provision =
  | {
      readonly mode: 'data'
      readonly path: string
      readonly content: string
      readonly owner: string
      readonly permissions: string
    }
  | { readonly mode: 'system'; readonly script: string }

export function buildProvision(lab: Lab, node: LabNode, publicKey: string): readonly Provision[] {
  return [
    data('/etc/netplan/90-stackloom.yaml', writeYaml(buildNetplan(lab, node)), '600'),
    data('/etc/cloud/cloud.cfg.d/99-stackloom.cfg', CLOUD_CFG, '644'),
    data('/etc/stackloom/authorized_key', publicKey, '644'),
    { mode: 'system', script: identityScript(lab, node) },
    { mode: 'system', script: TIME_SCRIPT },
    ...node.disks.filter((disk) => disk.use === 'state').map((disk) => script(stateDiskScript(disk))),
    ...node.disks.filter((disk) => disk.use === 'lvm').map((disk) => script(volumeGroupScript(disk))),
  ]
}

function data(path: string, content: string, permissions: string): Provision {
  return { mode: 'data', path, content, owner: 'root:root', permissions }
}

function script(text: string): Provision {
  return { mode: 'system', script: text }
}

/** Lima changes the instance id at every boot: cloud-init would make new host keys and set its own hostname. */
const CLOUD_CFG = `preserve_hostname: true
ssh_deletekeys: false
manage_etc_hosts: false
`

function identityScript(lab: Lab, node: LabNode): string {
  return `#!/bin/sh
set -eu
hostnamectl set-hostname ${node.name}
grep -q '^${node.address} ' /etc/hosts ||
  echo '${node.address} ${node.name}.${lab.dns.domain} ${node.name}' >> /etc/hosts
install -d -m 700 -o ${lab.user} -g ${lab.user} /home/${lab.user}/.ssh
touch /home/${lab.user}/.ssh/authorized_keys
grep -qxF "$(cat /etc/stackloom/authorized_key)" /home/${lab.user}/.ssh/authorized_keys ||
  cat /etc/stackloom/authorized_key >> /home/${lab.user}/.ssh/authorized_keys
chown ${lab.user}:${lab.user} /home/${lab.user}/.ssh/authorized_keys
chmod 600 /home/${lab.user}/.ssh/authorized_keys
netplan apply
`
}

/** Plain mode has no clock synchronisation with the host, and prechecks want a synchronised clock. */
const TIME_SCRIPT = `#!/bin/sh
set -eu
[ -e /etc/timezone ] || echo Etc/UTC > /etc/timezone
systemctl enable --now systemd-timesyncd
`

/** Formatted once, when it is blank; after that it is only mounted. */
function stateDiskScript({ device }: LabDisk): string {
  return `#!/bin/sh
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
`
}

/** The volume group is made on a blank disk only, and found again after every boot. */
function volumeGroupScript({ device }: LabDisk): string {
  return `#!/bin/sh
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
`
}
