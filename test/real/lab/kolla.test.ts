/**
 * Kolla-Ansible reads what we render: its own inventory parser, playbooks, templates and password tool.
 *
 * Every run of Ansible is local and inside a network namespace without any interface: nothing can be dialled.
 */
import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { allGroups } from '../../../src/lab/kolla/groups.ts'
import { hasKollaVenv, kollaVenv } from '../../../tools/lab-setup.ts'
import { requireRoot } from '../../tools.ts'
import { type RenderedLab, renderedLab } from './rendered-lab.ts'

const run = promisify(execFile)
const python = path.join(kollaVenv(), 'bin/python')
const share = path.join(kollaVenv(), 'share/kolla-ansible')

let rendered: RenderedLab
beforeAll(async () => {
  rendered = await renderedLab()
})
afterAll(() => rendered.remove())

function requireKolla(context: { readonly skip: (reason: string) => void }): void {
  requireRoot(context as never)
  if (!hasKollaVenv()) context.skip('Kolla-Ansible is not installed; `make setup` installs it')
}

async function ansible(program: string, args: readonly string[]): Promise<string> {
  const { scratch } = rendered
  const env = {
    ...process.env,
    PATH: `${path.join(kollaVenv(), 'bin')}:${process.env['PATH']}`,
    HOME: scratch,
    ANSIBLE_CACHE_PLUGIN: 'jsonfile',
    ANSIBLE_CACHE_PLUGIN_CONNECTION: path.join(scratch, 'facts'),
    ANSIBLE_CACHE_PLUGIN_TIMEOUT: '0',
    ANSIBLE_LOCAL_TEMP: path.join(scratch, 'tmp'),
    ANSIBLE_PIPELINING: '1',
    ANSIBLE_FORKS: '3',
    ANSIBLE_NOCOLOR: '1',
  }
  const words = ['-n', path.join(kollaVenv(), 'bin', program), ...args]
  const { stdout } = await run('unshare', words, { env, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

/** What Ansible would have gathered from the nodes. */
function writeFacts(): void {
  const folder = path.join(rendered.scratch, 'facts')
  mkdirSync(folder, { recursive: true })
  for (const node of rendered.lab.nodes) {
    const nics = node.nics.map((nic) => {
      const ipv4 = nic.address && { ipv4: { address: nic.address, netmask: '255.255.255.0', prefix: '24' } }
      return [
        `ansible_${nic.interface}`,
        { active: true, macaddress: nic.mac, mtu: 1500, type: 'ether', ...ipv4 },
      ]
    })
    const facts = {
      ansible_hostname: node.name,
      ansible_nodename: node.name,
      ansible_fqdn: node.name,
      ansible_distribution: 'Ubuntu',
      ansible_distribution_release: 'noble',
      ansible_distribution_version: '24.04',
      ansible_distribution_major_version: '24',
      ansible_os_family: 'Debian',
      ansible_architecture: 'aarch64',
      ansible_processor_vcpus: node.cpus,
      ansible_memtotal_mb: node.memory * 1024,
      ansible_service_mgr: 'systemd',
      ansible_python: { executable: python },
      ansible_python_version: '3.12.0',
      ansible_user_uid: 0,
      ansible_user_gid: 0,
      ansible_interfaces: ['lo', ...node.nics.map((nic) => nic.interface)],
      ansible_env: {},
      ansible_date_time: { epoch: '1790000000' },
      ansible_kernel: '6.8.0',
      ...Object.fromEntries(nics),
    }
    writeFileSync(
      path.join(folder, `s1_${node.name}`),
      JSON.stringify({ __payload__: JSON.stringify(facts) }),
    )
  }
}

const inventory = (): string => path.join(rendered.folder, 'kolla/multinode')
const extra = (): readonly string[] => [
  '-i',
  inventory(),
  '-e',
  `@${path.join(rendered.folder, 'kolla/globals.yml')}`,
  '-e',
  `@${path.join(rendered.folder, 'kolla/passwords.yml')}`,
  '-e',
  `CONFIG_DIR=${path.join(rendered.folder, 'kolla')}`,
  '-e',
  'ansible_connection=local',
  '-e',
  `ansible_python_interpreter=${python}`,
]

describe('Kolla-Ansible', () => {
  it('finds every group that its own inventory has', async (context) => {
    requireKolla(context)
    const ours = JSON.parse(await ansible('ansible-inventory', ['-i', inventory(), '--list'])) as Record<
      string,
      { hosts?: string[] }
    >
    expect(new Set(allGroups)).toEqual(
      groupsOf(readFileSync(path.join(share, 'ansible/inventory/multinode'), 'utf8')),
    )
    expect(ours['control']?.hosts).toEqual(['node1'])
    expect(ours['compute']?.hosts).toEqual(['node2'])
    expect(ours['storage']?.hosts).toEqual(['node3'])
  })

  it('has no password to add', (context) => {
    requireKolla(context)
    const file = path.join(rendered.scratch, 'passwords.yml')
    copyFileSync(path.join(rendered.folder, 'kolla/passwords.yml'), file)
    execFileSync(path.join(kollaVenv(), 'bin/kolla-genpwd'), ['-p', file])
    const before = readFileSync(path.join(rendered.folder, 'kolla/passwords.yml'), 'utf8')
    expect(parse(readFileSync(file, 'utf8'))).toEqual(parse(before))
    const template = parse(
      readFileSync(path.join(share, 'etc_examples/kolla/passwords.yml'), 'utf8'),
    ) as object
    expect(Object.keys(parse(before) as object).toSorted()).toEqual(Object.keys(template).toSorted())
    // The rule of prechecks: only SSH keys may have nothing on their line.
    const empty = before.split('\n').filter((line) => /^[^#].*:\s*$/.test(line))
    expect(empty.filter((line) => !line.includes('ssh_key') && !line.startsWith('  '))).toEqual([])
  })

  it('accepts site.yml with our configuration', async (context) => {
    requireKolla(context)
    writeFacts()
    const said = await ansible('ansible-playbook', [
      ...extra(),
      '--syntax-check',
      path.join(share, 'ansible/site.yml'),
    ])
    expect(said).toContain('playbook:')
  }, 180_000)

  it('gives every node its own variables', async (context) => {
    requireKolla(context)
    writeFacts()
    const names = [
      'inventory_hostname',
      'api_interface_address',
      'tunnel_interface',
      'kolla_external_vip_interface',
    ]
    const msg = names.map((name) => `{{ ${name} }}`).join(' ')
    const debug = [
      '--playbook-dir',
      path.join(share, 'ansible'),
      '-m',
      'debug',
      '-a',
      JSON.stringify({ msg }),
    ]
    const said = await ansible('ansible', ['all', ...extra(), ...debug])
    expect(said).toContain('node1 192.168.105.11 tun0 vip0')
    expect(said).toContain('node2 192.168.105.12 tun0 mgmt0')
    expect(said).toContain('node3 192.168.105.13 mgmt0 mgmt0')
  }, 180_000)

  it('renders Cinder, Glance, Nova, Neutron, HAProxy and keepalived as we mean them', async (context) => {
    requireKolla(context)
    writeFacts()
    const roles = path.join(rendered.scratch, 'ansible')
    const out = path.join(rendered.scratch, 'out')
    cpSync(path.join(share, 'ansible'), roles, { recursive: true })
    execFileSync(python, [path.join(import.meta.dirname, 'kolla-tasks.py'), roles, out])
    await ansible('ansible-playbook', [
      ...extra(),
      '-e',
      `@${path.join(rendered.folder, 'ceph/20-ceph.yml')}`,
      '-e',
      'kolla_action=config',
      '-e',
      JSON.stringify({
        ansible_become: false,
        set_sysctl: 'no',
        node_config_directory: `${out}/{{ inventory_hostname }}`,
      }),
      path.join(roles, 'narrow.yml'),
    ])
    const read = (file: string): string => readFileSync(path.join(out, file), 'utf8')
    const option = (file: string, section: string, name: string): string | undefined =>
      valueIn(read(file), section, name)

    const cinder = 'node3/cinder-volume/cinder.conf'
    expect(option(cinder, 'DEFAULT', 'enabled_backends')).toBe('rbd-1,lvm-1'.split(',').toSorted().join(','))
    expect(option(cinder, 'lvm-1', 'target_ip_address')).toBe('10.0.3.13')
    expect(option(cinder, 'lvm-1', 'volume_group')).toBe('cinder-volumes')
    const nova = 'node2/nova-compute/nova.conf'
    expect(option(nova, 'libvirt', 'virt_type')).toBe('qemu')
    expect(option(nova, 'libvirt', 'cpu_mode')).toBe('custom')
    expect(option(nova, 'libvirt', 'cpu_models')).toBe('max')
    expect(option(nova, 'libvirt', 'images_type')).toBe('rbd')
    expect(option('node1/glance-api/glance-api.conf', 'glance_store', 'default_backend')).toBe('rbd')
    const ml2 = 'node1/neutron-server/ml2_conf.ini'
    expect(option(ml2, 'ml2', 'tenant_network_types')).toBe('geneve')
    expect(option(ml2, 'ml2', 'mechanism_drivers')).toContain('ovn')
    const keepalived = read('node1/keepalived/keepalived.conf')
    expect(keepalived).toMatch(/192\.168\.105\.250 dev mgmt0/)
    expect(keepalived).toMatch(/10\.0\.2\.250 dev vip0/)
    expect(keepalived).toMatch(/virtual_router_id 51/)
    expect(read('node1/haproxy/haproxy.cfg')).toContain('192.168.105.11:1984')
  }, 300_000)
})

function groupsOf(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/^\[([^\]:]+)/gm)].map((match) => match[1] as string))
}

function valueIn(text: string, section: string, name: string): string | undefined {
  const part = text.split(/^\[/m).find((one) => one.startsWith(`${section}]`))
  return part && new RegExp(`^${name} ?= ?(.*)$`, 'm').exec(part)?.[1]
}
