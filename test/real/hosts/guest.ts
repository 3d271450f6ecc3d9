/**
 * Builds the guest of instances: Debian's kernel and a small first program, which takes an address by DHCP, asks for metadata
 * and runs its user data. It says what it does on the console, on lines that begin with GUEST.
 */

export const KERNEL = '/root/kernel'
export const INITRAMFS = '/root/initramfs'
export const DISK = '/root/disk'

/** Each after those that it needs. */
const modules = [
  'virtio_ring',
  'virtio',
  'virtio_pci_legacy_dev',
  'virtio_pci_modern_dev',
  'virtio_pci',
  'failover',
  'net_failover',
  'virtio_net',
]

// The datapath of Open vSwitch in a process completes no checksums, which a guest leaves to its device by default.
const INIT = `#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
for name in ${modules.join(' ')}; do
  options=
  [ $name = virtio_net ] && options='csum=0 gso=0'
  [ ! -e /lib/$name.ko ] || insmod /lib/$name.ko $options
done
echo GUEST booted $(uname -r)
ip link set lo up
ip link set eth0 up
udhcpc -i eth0 -q -n -t 60 -T 2 -O mtu -s /lease
for try in $(seq 60); do
  id=$(timeout 20 wget -q -O - http://169.254.169.254/latest/meta-data/instance-id) && break
  sleep 2
done
echo GUEST metadata $id
timeout 20 wget -q -O /user-data http://169.254.169.254/latest/user-data && sh /user-data
echo GUEST done
while :; do sleep 3600; done
`

const LEASE = `#!/bin/busybox sh
[ "$1" = bound ] || exit 0
ip link set $interface mtu $mtu
ip address add $ip/$mask dev $interface
set -- $staticroutes
while [ $# -gt 1 ]; do
  [ "$2" = 0.0.0.0 ] && ip route add $1 dev $interface
  [ "$2" = 0.0.0.0 ] || ip route add $1 via $2
  shift 2
done
echo GUEST address $ip mtu $mtu
`

/** A script for a host with Debian's cloud kernel. */
export const BUILD_GUEST = `set -e
work=$(mktemp -d)
cd "$work"
mkdir bin dev proc sys lib
cp /bin/busybox bin/
mknod dev/console c 5 1
for name in ${modules.join(' ')}; do
  find /lib/modules -name $name.ko -exec cp {} lib/ \\;
done
cat >init <<'END'
${INIT}END
cat >lease <<'END'
${LEASE}END
chmod 755 init lease
find . | cpio --quiet -o -H newc >${INITRAMFS}
cp /boot/vmlinuz-*cloud-amd64 ${KERNEL}
truncate --size 1M ${DISK}
`
