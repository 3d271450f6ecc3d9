/** Renders shell scripts: wrappers of the commands that the stages run, and the scripts that stages run in nodes. */
import { quoteShellWord } from '../errors/shell-words.ts'
import { pools } from './ceph.ts'
import { CIRROS_VERSION, cirrosFile, dnsNode, type Lab, nameserverAddress, nodesWithRole, usesCeph } from './lab.ts'
import type { TreeFile } from './tree.ts'

export function scriptFiles(lab: Lab): readonly TreeFile[] {
  return [
    script('bootstrap.sh', 'Everything, stage by stage.', 'exec stackloom lab up -f "${1:?the lab file}" --out "$lab"'),
    script(
      'teardown.sh',
      'Stops the VMs; their disks stay.',
      'exec stackloom lab down -f "${1:?the lab file}" --out "$lab"',
    ),
    script(
      'kolla.sh',
      'kolla-ansible with this inventory and configuration: scripts/kolla.sh reconfigure -t nova',
      'exec "$lab/.stackloom/venv/bin/kolla-ansible" "$@" -i "$lab/kolla/multinode" --configdir "$lab/kolla"',
    ),
    script('ssh.sh', 'A shell in a node: scripts/ssh.sh node1', 'exec ssh -F "$lab/ssh/config" "$@"'),
    script(
      'openstack.sh',
      'The openstack client as administrator: scripts/openstack.sh server list',
      `export OS_CLIENT_CONFIG_FILE="$lab/kolla/clouds.yaml" OS_CLOUD=kolla-admin
exec "$lab/.stackloom/venv/bin/openstack" "$@"`,
    ),
    script(
      'resolver.sh',
      'Sends names of the lab to its DNS server (macOS). Needs sudo, so it is yours to run.',
      `sudo mkdir -p /etc/resolver
echo ${quoteShellWord(`nameserver ${nameserverAddress(lab)}`)} | sudo tee /etc/resolver/${quoteShellWord(lab.dns.domain)}`,
    ),
    script(
      'fetch-image.sh',
      'CirrOS for the instances.',
      `mkdir -p "$lab/terraform/openstack/images"
cd "$lab/terraform/openstack"
image=${cirrosFile(lab.arch)}
# Renamed last: an interrupted download must not count as the image.
curl -fL -o "$image.part" "https://download.cirros-cloud.net/${CIRROS_VERSION}/\${image##*/}"
mv "$image.part" "$image"`,
    ),
    node('install-bind.sh', installBind(lab)),
    node('backup-database.sh', BACKUP),
    node('restore-database.sh', RESTORE),
    ...(usesCeph(lab) ? [node('ceph-bootstrap.sh', cephBootstrap(lab)), node('ceph-pools.sh', cephPools())] : []),
  ]
}

function script(name: string, about: string, body: string): TreeFile {
  const text = `#!/bin/sh
# ${about}
set -eu
lab=$(cd "$(dirname "$0")/.." && pwd)
${body}
`
  return { path: `scripts/${name}`, text, executable: true }
}

/** Runs as root in a node, passed on standard input. */
function node(name: string, text: string): TreeFile {
  return { path: `scripts/node/${name}`, text, executable: true }
}

function installBind(lab: Lab): string {
  return `#!/bin/sh
# In ${dnsNode(lab).name}: installs BIND, takes the zones over when they are right, and keeps the old ones when not.
set -eu
command -v named > /dev/null || { apt-get -qq update && apt-get -qq -y install bind9 bind9-utils; }
new=/tmp/stackloom-bind
install -d /etc/bind/zones
named-checkconf "$new/named.conf"
for zone in "$new"/zones/db.*; do
  named-checkzone -q "\${zone##*/db.}" "$zone"
done
install -m 644 "$new"/zones/db.* /etc/bind/zones/
install -m 644 "$new/named.conf" /etc/bind/named.conf
systemctl enable --now named
rndc reload || systemctl restart named
`
}

function cephPools(): string {
  return `#!/bin/sh
# In the monitor's node: settings, pools and users of the cluster. May run again.
set -eu
ceph() { cephadm shell -- ceph "$@"; }
ceph config set global osd_pool_default_size 2
ceph config set global osd_pool_default_min_size 1
ceph config set osd osd_memory_target_autotune false
ceph config set osd osd_memory_target 1073741824
ceph mgr module enable prometheus
for pool in ${pools.join(' ')}; do
  ceph osd pool create "$pool"
  ceph osd pool application enable "$pool" rbd
done
for keyring in /tmp/stackloom-ceph/keyrings/*.keyring; do
  cephadm shell --mount "$keyring:/keyring" -- ceph auth import -i /keyring
done
rm -rf /tmp/stackloom-ceph
`
}

function cephBootstrap(lab: Lab): string {
  const [monitor] = nodesWithRole(lab, 'ceph-mon')
  return `#!/bin/sh
# In ${monitor?.name ?? 'the monitor'}: a cluster, once; its hosts and OSDs, every time.
set -eu
from=/tmp/stackloom-ceph
command -v cephadm > /dev/null || { apt-get -qq update && apt-get -qq -y install cephadm ceph-common; }
if [ ! -e /etc/ceph/ceph.client.admin.keyring ]; then
  fsid=$(sed -n 's/^fsid = //p' "$from/ceph.conf")
  cephadm --docker bootstrap --fsid "$fsid" --mon-ip ${quoteShellWord(monitor?.address ?? '')} \\
    --cluster-network ${quoteShellWord(lab.networks.storage.subnet)} --config "$from/initial.conf" \\
    --ssh-user ${quoteShellWord(lab.user)} --ssh-private-key "$from/id_ed25519" --ssh-public-key "$from/id_ed25519.pub" \\
    --skip-monitoring-stack --skip-dashboard --skip-firewalld --log-to-file
fi
rm -f "$from/id_ed25519"
cephadm shell --mount "$from/cluster.yaml:/cluster.yaml" -- ceph orch apply -i /cluster.yaml
`
}

/** `kolla-ansible mariadb-backup` has written a backup to the volume; Glance's files are added. */
const BACKUP = `#!/bin/sh
# In the controller: packs the newest backup of the database, and Glance's images, for the host.
set -eu
umask 077
volumes=/var/lib/docker/volumes
tar -C "$volumes" -cf /tmp/stackloom-backup.tar mariadb_backup/_data $([ -d "$volumes/glance" ] && echo glance/_data)
chown "$SUDO_USER" /tmp/stackloom-backup.tar
`

const RESTORE = `#!/bin/sh
# In the controller, after a fresh deployment: puts a packed backup back.
set -eu
volumes=/var/lib/docker/volumes
tar -C "$volumes" -xf /tmp/stackloom-backup.tar
rm -f /tmp/stackloom-backup.tar
image=$(docker inspect --format '{{.Config.Image}}' mariadb)
newest=$(ls -t "$volumes/mariadb_backup/_data" | grep -m1 '^mysqlbackup-.*qp.*mbs\\.gz$\\|^mysqlbackup-.*\\.gz$')
docker stop mariadb
docker run --rm --user root --volumes-from mariadb -v mariadb_backup:/backup "$image" bash -ec "
  rm -rf /backup/restore && mkdir -p /backup/restore
  gunzip -c /backup/$newest | mbstream -x -C /backup/restore
  mariabackup --prepare --target-dir /backup/restore
  rm -rf /var/lib/mysql/* && mariabackup --copy-back --target-dir /backup/restore
  chown -R mysql:mysql /var/lib/mysql && rm -rf /backup/restore"
docker start mariadb
`
