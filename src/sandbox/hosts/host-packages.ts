/** Lists the Debian packages of hosts: control hosts of clouds and hosts of the data plane share one root file system. */

/** What a machine has. */
const machine = [
  'systemd-sysv',
  'dbus',
  'udev',
  'kmod',
  'procps',
  'iproute2',
  'iputils-ping',
  'ca-certificates',
  'openssh-server',
  'sudo',
  'python3-apt',
  'network-manager',
  'chrony',
  'curl',
]

const controlPlane = [
  'mariadb-server',
  'mariadb-client',
  'rabbitmq-server',
  'memcached',
  // Ends TLS on the VIPs; also the metadata agent needs it, without a dependency.
  'haproxy',
  'keystone',
  'placement-api',
  'glance-api',
  'nova-api',
  'nova-scheduler',
  'nova-conductor',
  'neutron-server',
  'ovn-central',
  'python3-openstackclient',
  'python3-osc-placement',
  'python3-pymysql',
  'python3-pymemcache',
  'python3-memcache',
]

const compute = [
  'nova-compute',
  // Not nova-compute-qemu, which brings the emulators of all processors.
  'nova-compute-kvm',
  'swtpm-tools',
  'genisoimage',
  'neutron-ovn-metadata-agent',
  'neutron-sriov-agent',
  'cinder-volume',
  'ovn-host',
  'openvswitch-switch',
  // Kernel and first program of an instance.
  'linux-image-cloud-amd64',
  'busybox-static',
  'cpio',
]

export const hostPackages: readonly string[] = [...machine, ...controlPlane, ...compute]
