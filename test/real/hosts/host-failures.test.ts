/** Induces failures on a data plane host, and checks that each run names host, task, cause and remedy. */
import { describe, expect, it } from 'vitest'
import { findSoakHostRoot } from '../../hosts.ts'
import { useNodes } from '../dataplane/nodes.ts'
import { type PlayRequest, play } from './playbooks.ts'

const HOST = 'edpm-compute-0'
const nodes = useNodes([HOST], findSoakHostRoot)
const LONG = 1_800_000

const onHost = async (script: string): Promise<string> => (await nodes.node(HOST).run('sh', '-c', script)).stdout.trim()
const run = (playbook: string, more: Partial<PlayRequest> = {}): ReturnType<typeof play> =>
  play(nodes, { playbooks: [playbook], hosts: [HOST], ...more })

const named = (task: string, code: string): unknown =>
  expect.stringMatching(new RegExp(`^${HOST}: ${task}: .* \\(${code}: .+\\)$`))

/** A repository with one small package, on the disk of the host. */
const REPOSITORY = `
mkdir -p /srv/package/DEBIAN /srv/repository && cd /srv
printf 'Package: probe-package\\nVersion: 1\\nArchitecture: all\\nMaintainer: nobody <n@example.org>\\nDescription: probe\\n' > package/DEBIAN/control
dpkg-deb --build package repository/probe-package.deb
cd repository
{ cat ../package/DEBIAN/control; echo "Filename: ./probe-package.deb"; echo "Size: $(stat -c %s probe-package.deb)"
  echo "SHA256: $(sha256sum < probe-package.deb | cut -d ' ' -f 1)"; } > Packages`

const mirror = (packages: readonly string[], uri = 'file:/srv/repository'): NonNullable<PlayRequest['vars']> => ({
  stackloom_packages: packages,
  stackloom_repositories: [{ apt: `deb [trusted=yes] ${uri} ./` }],
  stackloom_repositories_only: true,
})

describe('packages', () => {
  it(
    'are installed from a mirror alone, once',
    async () => {
      await onHost(REPOSITORY)
      const vars = mirror(['probe-package'])
      expect(await run('install-os', { vars })).toMatchObject({ reason: 'Completed' })
      expect(await onHost("dpkg-query --show --showformat '${Version}' probe-package")).toBe('1')
      expect(await run('install-os', { vars })).toMatchObject({ hosts: { [HOST]: { changed: 0 } } })
    },
    LONG,
  )

  it(
    'that no repository has are named',
    async () => {
      const end = await run('install-os', { vars: mirror(['absent-package']) })
      expect(end.message).toEqual(named('Install the packages with apt', 'SL7141'))
      expect(end.message).toContain('absent-package')
    },
    LONG,
  )

  it(
    'of a mirror that does not answer are reported with the mirror',
    async () => {
      const end = await run('install-os', { vars: mirror(['other-package'], 'http://192.168.122.99/debian') })
      expect(end.message).toEqual(named('Install the packages with apt', 'SL7142'))
    },
    LONG,
  )

  it(
    'do not fit on a full disk',
    async () => {
      await onHost(
        'mkdir -p /etc/sysctl.d && mount -t tmpfs -o size=4k tmpfs /etc/sysctl.d && dd if=/dev/zero of=/etc/sysctl.d/full bs=4k count=1',
      )
      const end = await run('configure-os')
      await onHost('umount /etc/sysctl.d')
      expect(end.message).toEqual(named('Write the kernel settings', 'SL7140'))
    },
    LONG,
  )
})

describe('the connection', () => {
  const probe = { vars: { stackloom_packages: [] } }

  it(
    'with another SSH key is refused',
    async () => {
      const other = await onHost('rm -f /tmp/other; ssh-keygen -q -t ed25519 -N "" -f /tmp/other && cat /tmp/other')
      const end = await run('install-os', { ...probe, privateKey: `${other}\n` })
      expect(end).toMatchObject({ reason: 'Unreachable', message: expect.stringContaining('SL7143') })
    },
    LONG,
  )

  it(
    'to an address without a host ends',
    async () => {
      const vars = { ...probe.vars, ansible_host: '192.168.122.99', ansible_ssh_common_args: '-o ConnectTimeout=5' }
      const end = await run('install-os', { vars })
      expect(end).toMatchObject({ reason: 'Unreachable', message: expect.stringContaining('SL7144') })
    },
    LONG,
  )

  it(
    'to a name that no server knows ends',
    async () => {
      const end = await run('install-os', { vars: { ...probe.vars, ansible_host: 'nowhere.invalid' } })
      expect(end).toMatchObject({ reason: 'Unreachable', message: expect.stringContaining('SL7145') })
    },
    LONG,
  )

  it(
    'as a user without sudo changes nothing',
    async () => {
      // sshd reads the file as the user that connects.
      await onHost(
        'useradd --create-home --password x stack; chmod 755 /etc/stackloom-node; chmod 644 /etc/stackloom-node/authorized_keys',
      )
      const end = await run('install-os', { vars: { ...probe.vars, ansible_user: 'stack' } })
      expect(end.message).toContain('SL7146')
    },
    LONG,
  )
})

describe('the host', () => {
  it(
    'whose clock is off by an hour is refused',
    async () => {
      // A namespace has no clock of its own.
      await onHost(`printf '#!/bin/sh\necho $(($(/usr/bin/true-date +%%s) - 3600))\n' > /usr/local/clock
chmod 755 /usr/local/clock; cp /usr/bin/date /usr/bin/true-date; mount --bind /usr/local/clock /usr/bin/date`)
      const end = await run('configure-os')
      await onHost('umount /usr/bin/date')
      expect(end.message).toEqual(named('Check the clock of the node', 'SL7147'))
      expect(end.message).toMatch(/3[56]\d\d seconds behind/)
    },
    LONG,
  )

  it(
    'without the Python that Ansible is given names it',
    async () => {
      const vars = { stackloom_packages: [], ansible_python_interpreter: '/usr/bin/python9' }
      expect((await run('install-os', { vars })).message).toContain('SL7161')
    },
    LONG,
  )

  it(
    'on which another program installs packages is left to it',
    async () => {
      const hold = `import fcntl, time
lock = open('/var/lib/dpkg/lock-frontend', 'w')
fcntl.lockf(lock, fcntl.LOCK_EX)
time.sleep(600)`
      await onHost(`${REPOSITORY}\ndpkg --purge probe-package`)
      await onHost(`systemd-run --quiet --unit other-installer python3 -c "${hold.replaceAll('\n', '; ')}"`)
      const end = await run('install-os', { vars: mirror(['probe-package']) })
      await onHost('systemctl stop other-installer')
      expect(end.message).toEqual(named('Install the packages with apt', 'SL7162'))
    },
    LONG,
  )

  it(
    'without the southbound database is no chassis',
    async () => {
      const vars = { stackloom_ovn_remote: 'tcp:192.168.122.99:6642', stackloom_ovs_datapath: 'netdev' }
      const end = await run('run-os', { vars })
      expect(end.message).toEqual(named('Check the registration with the southbound database', 'SL7159'))
    },
    LONG,
  )

  it(
    'whose disk has no space for a service says what the command on it said',
    async () => {
      await onHost('mkdir -p /var/lib/openstack && mount -t tmpfs -o nr_inodes=1 tmpfs /var/lib/openstack')
      const files = { 'virtqemud.conf': 'x = 1\n' }
      const end = await run('libvirt', { files, vars: { stackloom_services_from: 'packages' } })
      await onHost('umount /var/lib/openstack')
      expect(end.message).toEqual(named('Create the folders', 'SL7140'))
    },
    LONG,
  )

  it(
    'without Podman 4.4 runs no images',
    async () => {
      const end = await run('libvirt', { files: { 'virtqemud.conf': 'x = 1\n' } })
      expect(end.message).toEqual(named('Check that Podman can make a unit from an image', 'SL7158'))
    },
    LONG,
  )

  it(
    'whose libvirt has an invalid configuration says what libvirt says',
    async () => {
      const files = { 'virtqemud.conf': 'unix_sock_group = "no-such-group"\n' }
      const end = await run('libvirt', { files, vars: { stackloom_services_from: 'packages' } })
      expect(end.message).toEqual(named('Check that the service runs', 'SL7152'))
    },
    LONG,
  )

  it(
    'whose metadata agent has an invalid option names it',
    async () => {
      const files = { '01-neutron-metadata.conf': '[DEFAULT]\nno sense\n' }
      const end = await run('ovn-metadata', { files, vars: { stackloom_services_from: 'packages' } })
      expect(end.message).toEqual(named('Check that the service runs', 'SL7160'))
    },
    LONG,
  )
})
