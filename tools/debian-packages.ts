/** The Debian packages that tests use, and what is left out where one is missing. Sorted by name. */

export interface DebianPackage {
  readonly name: string
  /** What does not happen without it. */
  readonly why: string
}

export const debianPackages: readonly DebianPackage[] = [
  { name: 'ansible-core', why: 'no run of Ansible is tried on nodes of a data plane' },
  { name: 'bind9', why: "the lab's DNS zones are not served by a real named" },
  { name: 'bind9-dnsutils', why: "the lab's DNS, and that of the clouds, is not asked with dig" },
  { name: 'bind9-utils', why: "the lab's zones are not judged by named-checkconf" },
  { name: 'busybox', why: 'the network probe is not tried with the tools of its usual image' },
  { name: 'dnsmasq-base', why: 'the names of clouds are not answered by a real dnsmasq' },
  { name: 'fish', why: 'completion is not tried in fish' },
  { name: 'haproxy', why: "what Kolla's templates make of the lab is not judged by HAProxy" },
  { name: 'iproute2', why: 'no network namespace, so nothing that needs a cluster is tested' },
  { name: 'iputils-arping', why: 'the network probe is not tried between namespaces' },
  { name: 'iputils-ping', why: 'the network probe is not tried between namespaces' },
  { name: 'keepalived', why: "what Kolla's templates make of the lab is not judged by keepalived" },
  { name: 'netcat-openbsd', why: 'the network probe is not tried between namespaces' },
  { name: 'netplan.io', why: "the lab's netplan is not judged by netplan" },
  { name: 'openssh-server', why: 'there are no nodes of a data plane to run Ansible on' },
  { name: 'openssl', why: 'certificates are not judged by openssl' },
  { name: 'procps', why: 'processes that were left behind are not looked for' },
  { name: 'python3-ansible-runner', why: 'runs are tried with ansible-playbook alone' },
  { name: 'python3-ceph-common', why: "the lab's Ceph specifications are not judged by Ceph" },
  { name: 'python3-oslo.config', why: 'configuration files are not compared with the real oslo.config' },
  { name: 'python3-venv', why: 'Kolla-Ansible is not installed for the tests of the lab' },
  { name: 'python3-yaml', why: 'what is written is not compared with what PyYAML reads' },
  { name: 'zsh', why: 'completion is not tried in zsh' },
]
