/** Lists the Debian packages that tests use, and what is not tested without each. Sorted by name. */

export interface DebianPackage {
  readonly name: string
  /** What is not tested without it. */
  readonly why: string
}

export const debianPackages: readonly DebianPackage[] = [
  { name: 'age', why: 'no guide that needs a sandbox is run: the one to backups makes a key with it' },
  { name: 'ansible-core', why: 'Ansible does not run on data plane nodes' },
  { name: 'bind9', why: "the lab's DNS zones are not served by a real named" },
  { name: 'bind9-dnsutils', why: 'the DNS servers of the lab and of the clouds are not queried with dig' },
  { name: 'bind9-utils', why: "the lab's zones are not checked by named-checkconf" },
  { name: 'buildah', why: "the operator's image is not built from the Containerfile" },
  { name: 'busybox', why: 'the network probe does not run with the tools of its default image' },
  { name: 'chromium', why: 'the page of the console is not tested in a browser' },
  { name: 'containerd', why: 'no pods run in the sandbox' },
  { name: 'createrepo-c', why: 'no packages are installed with dnf' },
  { name: 'dnf', why: 'no packages are installed with dnf' },
  { name: 'dnsmasq-base', why: 'the names of clouds are not served by a real dnsmasq' },
  { name: 'fish', why: 'completion is not tested in fish' },
  { name: 'haproxy', why: "HAProxy does not check the files that Kolla's templates produce for the lab" },
  { name: 'iproute2', why: 'there are no network namespaces, so nothing that needs a cluster is tested' },
  { name: 'iputils-arping', why: 'the network probe does not run between namespaces' },
  { name: 'iputils-ping', why: 'the network probe does not run between namespaces' },
  { name: 'keepalived', why: "keepalived does not check the files that Kolla's templates produce for the lab" },
  { name: 'lua5.4', why: 'the health scripts for Argo CD do not run' },
  {
    name: 'mmdebstrap',
    why: 'no root file system is built, so neither OpenStack, hosts of the data plane nor rehearsals run',
  },
  { name: 'netcat-openbsd', why: 'the network probe does not run between namespaces' },
  { name: 'netplan.io', why: "the lab's netplan is not checked by netplan" },
  { name: 'nftables', why: 'no pods run in the sandbox' },
  { name: 'openssh-server', why: 'there are no data plane nodes to run Ansible on' },
  { name: 'openssl', why: 'certificates are not checked by openssl' },
  { name: 'procps', why: 'leftover processes are not detected' },
  { name: 'prometheus', why: 'alerts and dashboard are not evaluated by promtool and Prometheus' },
  { name: 'python3-ansible-runner', why: 'runs use ansible-playbook only' },
  { name: 'python3-ceph-common', why: "the lab's Ceph specifications are not checked by Ceph" },
  { name: 'python3-oslo.config', why: 'configuration files are not compared with the real oslo.config' },
  { name: 'python3-venv', why: 'Kolla-Ansible is not installed for the tests of the lab' },
  { name: 'python3-yaml', why: 'YAML output is not compared with what PyYAML reads' },
  { name: 'qemu-system-x86', why: 'no site is rehearsed on virtual machines' },
  { name: 'qemu-utils', why: 'no site is rehearsed on virtual machines' },
  { name: 'rpm', why: 'no packages are installed with dnf' },
  { name: 'runc', why: 'no pods run in the sandbox' },
  { name: 'zsh', why: 'completion is not tested in zsh' },
]
