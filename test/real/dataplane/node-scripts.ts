/** Holds the shell scripts that keep and boot the nodes of a test: namespaces with systemd as their first process. */

export const SWITCH = `
ip link set lo up
ip link add switch type bridge
ip address add 192.168.122.1/24 dev switch
ip link set switch up
echo ready
exec sleep infinity`

/**
 * Keeps the file system of a node while it is off, and boots it again whenever it went down: \`systemctl reboot\` and
 * killing its first process (power lost) work as on a machine. $1: folder, $2: lower layer, $3: cgroup, $4: host name.
 * The upper layer is in memory, so that any file system can be below it.
 */
export const KEEP = `
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/new"
mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" "$1/new"
cd "$1/new"
# The programs of this machine must not start in a node: only what its own target asks for does.
rm -rf etc/systemd/system/*.wants
rm -f etc/hostname etc/machine-id var/lib/dbus/machine-id
# An empty one would make this a first boot, in which systemd enables every unit of the machine.
tr -d - < /proc/sys/kernel/random/uuid > etc/machine-id
echo "$4" > etc/hostname
mkdir -p root etc/stackloom-node
printf '%s' "$KEY_PUBLIC" > etc/stackloom-node/authorized_keys
printf '%s\\n' "$KEY_PRIVATE" > etc/stackloom-node/host_key
chmod 600 etc/stackloom-node/host_key etc/stackloom-node/authorized_keys
cat > etc/systemd/system/node-sshd.service <<UNIT
[Service]
RuntimeDirectory=sshd
ExecStart=/usr/sbin/sshd -D -e -h /etc/stackloom-node/host_key -o UsePAM=no -o AuthorizedKeysFile=/etc/stackloom-node/authorized_keys -o StrictModes=no -o PidFile=none
ExecReload=/bin/kill -HUP \\$MAINPID
KillMode=process
UNIT
mkdir -p etc/systemd/system/multi-user.target.wants
ln -sf ../node-sshd.service etc/systemd/system/multi-user.target.wants/
unset KEY_PUBLIC KEY_PRIVATE
echo ready
while :; do
  [ -e "$1/off" ] || unshare --mount --pid --uts --ipc --fork sh -c "$BOOT" sh "$@" || true
  sleep 0.2
done`

/** Boots a node. systemd needs a cgroup of its own, which is the root for all of its processes. */
export const BOOT = `
set -e
mkdir -p "$3"
echo 0 > "$3/cgroup.procs"
exec unshare --cgroup sh -c '
set -e
cd "$1/new"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm dev/net
for device in "null 1 3" "zero 1 5" "full 1 7" "random 1 8" "urandom 1 9" "tty 5 0" "net/tun 10 200"; do
  mknod -m 666 dev/\${device%% *} c \${device#* }
done
mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mkdir run/lock
hostname "$4"
mkdir -p .old
pivot_root . .old
umount -l /.old
exec env -i container=stackloom PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=journal
' sh "$@"`
