/**
 * Checks what Kolla's templates render for a lab on every node, with HAProxy and keepalived for their configuration.
 *
 * `make test` renders only what these tests read, `make soak` every role of site.yml.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { count } from '../../counts.ts'
import { requireRoot, requireTool } from '../../tools.ts'
import { canRunKolla, renderKollaConfiguration, requireKolla } from './kolla-ansible.ts'
import { type RenderedLab, renderLabToDisk } from './rendered-lab.ts'

const whole = count({ test: 0, soak: 1 }) === 1
const LIMIT_MS = 1_800_000

let rendered: RenderedLab
let out = ''
beforeAll(async () => {
  rendered = await renderLabToDisk()
  if (canRunKolla()) out = await renderKollaConfiguration(rendered, whole)
}, LIMIT_MS)
afterAll(() => rendered.remove())

const read = (file: string): string => readFileSync(path.join(out, file), 'utf8')

function option(file: string, section: string, name: string): string | undefined {
  const part = read(file)
    .split(/^\[/m)
    .find((text) => text.startsWith(`${section}]`))
  return part && new RegExp(`^${name} ?= ?(.*)$`, 'm').exec(part)?.[1]
}

describe("Kolla's templates", () => {
  it('render files for every node', (context) => {
    requireKolla(context)
    expect(readdirSync(out).toSorted()).toEqual(['node1', 'node2', 'node3'])
    if (whole) expect(readdirSync(path.join(out, 'node1')).length).toBeGreaterThan(40)
  })

  it('configure both backends of Cinder, and iSCSI on the storage network', (context) => {
    requireKolla(context)
    const cinder = 'node3/cinder-volume/cinder.conf'
    expect(option(cinder, 'DEFAULT', 'enabled_backends')).toBe('lvm-1,rbd-1')
    expect(option(cinder, 'lvm-1', 'target_ip_address')).toBe('10.0.3.13')
    expect(option(cinder, 'lvm-1', 'volume_group')).toBe('cinder-volumes')
    expect(option('node1/cinder-api/cinder.conf', 'DEFAULT', 'my_ip')).toBe('192.168.105.11')
  })

  it('configure Nova for emulation, with disks in Ceph', (context) => {
    requireKolla(context)
    const nova = 'node2/nova-compute/nova.conf'
    expect(option(nova, 'libvirt', 'virt_type')).toBe('qemu')
    expect(option(nova, 'libvirt', 'cpu_mode')).toBe('custom')
    expect(option(nova, 'libvirt', 'cpu_models')).toBe('max')
    expect(option(nova, 'libvirt', 'images_type')).toBe('rbd')
    expect(option(nova, 'DEFAULT', 'my_ip')).toBe('192.168.105.12')
    expect(option('node1/nova-api/nova.conf', 'DEFAULT', 'my_ip')).toBe('192.168.105.11')
  })

  it('configure Glance to store images in Ceph', (context) => {
    requireKolla(context)
    expect(option('node1/glance-api/glance-api.conf', 'glance_store', 'default_backend')).toBe('rbd')
  })

  it('configure Neutron with OVN and Geneve on controllers and computes', (context) => {
    requireKolla(context)
    const ml2 = 'node1/neutron-server/ml2_conf.ini'
    expect(option(ml2, 'ml2', 'tenant_network_types')).toBe('geneve')
    expect(option(ml2, 'ml2', 'mechanism_drivers')).toContain('ovn')
    const agent = read('node2/neutron-ovn-metadata-agent/neutron.conf')
    expect(agent).toContain('internal.openstack.local')
  })

  it('put both VIPs on interfaces with addresses', (context) => {
    requireKolla(context)
    const keepalived = read('node1/keepalived/keepalived.conf')
    expect(keepalived).toMatch(/192\.168\.105\.250 dev mgmt0/)
    expect(keepalived).toMatch(/10\.0\.2\.250 dev vip0/)
    expect(keepalived).toMatch(/virtual_router_id 51/)
    const frontends = readdirSync(path.join(out, 'node1/haproxy/services.d'))
    expect(frontends).toEqual(expect.arrayContaining(['keystone.cfg', 'nova-api.cfg', 'grafana.cfg']))
    expect(read('node1/haproxy/services.d/keystone.cfg')).toMatch(/bind 10\.0\.2\.250:5000 ssl/)
  })
})

/** Copies a file and replaces paths of the container with paths of this machine. */
function localCopy(file: string, places: Readonly<Record<string, string>>): string {
  const folder = path.join(rendered.scratch, 'local')
  const target = path.join(folder, file)
  mkdirSync(path.dirname(target), { recursive: true })
  const text = Object.entries(places).reduce((old, [from, to]) => old.replaceAll(from, to), read(file))
  writeFileSync(target, text, { mode: 0o600 })
  return target
}

describe('HAProxy', () => {
  const check = (change: (text: string) => string = (text) => text): { status: number | null; output: string } => {
    const certificates = path.join(rendered.folder, 'kolla/certificates')
    const places = {
      '/etc/haproxy/certificates': certificates,
      // The group and the chroot exist only in the container.
      '/var/lib/kolla/haproxy/haproxy.sock group kolla': path.join(rendered.scratch, 'haproxy.sock'),
      'chroot /var/lib/haproxy': `chroot ${rendered.scratch}`,
      'ca-base /etc/ssl/certs': `ca-base ${path.join(certificates, 'ca')}`,
      'ca-file ca-certificates.crt': 'ca-file root.crt',
    }
    const services = readdirSync(path.join(out, 'node1/haproxy/services.d')).map(
      (name) => `node1/haproxy/services.d/${name}`,
    )
    const files = ['node1/haproxy/haproxy.cfg', ...services].map((file) => localCopy(file, places))
    const [main = ''] = files
    writeFileSync(main, change(readFileSync(main, 'utf8')))
    const args = ['-n', 'haproxy', '-c', '-V', ...files.flatMap((file) => ['-f', file])]
    const { status, stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' })
    return { status, output: `${stdout}${stderr}` }
  }

  it('accepts every frontend and backend, with the certificates of the lab', (context) => {
    requireKolla(context)
    requireTool(context, 'haproxy')
    expect(check()).toMatchObject({ status: 0, output: expect.stringContaining('Configuration file is valid') })
  })

  it('rejects a wrong configuration', (context) => {
    requireKolla(context)
    requireTool(context, 'haproxy')
    const { status, output } = check((text) => text.replace('stats enable', 'stats enabel'))
    expect(status).toBe(1)
    expect(output).toContain('enabel')
  })
})

/** Known warnings: Kolla's password is longer than VRRP's eight characters, and its scripts run as root. */
const KNOWN = [/Truncating auth_pass to 8 characters/, /SECURITY VIOLATION - scripts are being executed/]

describe('keepalived', () => {
  const check = (change: (text: string) => string = (text) => text): readonly string[] => {
    const script = path.join(out, 'node1/keepalived/checks/check_alive_haproxy.sh')
    const file = localCopy('node1/keepalived/keepalived.conf', { '/check_alive.sh': script })
    spawnSync('chmod', ['755', script])
    writeFileSync(file, change(readFileSync(file, 'utf8')))
    // keepalived requires the interfaces, so the namespace gets those of the node.
    const nics = rendered.lab.nodes[0]?.nics.filter((nic) => nic.address !== undefined) ?? []
    const links = nics.map(
      (nic) =>
        `ip link add ${nic.interface} type bridge && ip addr add ${nic.address}/24 dev ${nic.interface} && ip link set ${nic.interface} up`,
    )
    const commands = [...links, `keepalived -t -f ${file}`].join('\n')
    const { stdout, stderr } = spawnSync('unshare', ['-n', 'sh', '-c', commands], { encoding: 'utf8' })
    return `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && !KNOWN.some((known) => known.test(line)))
  }

  it("accepts its configuration, with the node's interfaces", (context) => {
    requireKolla(context)
    requireRoot(context)
    requireTool(context, 'keepalived')
    expect(check()).toEqual([])
  })

  it('rejects a wrong configuration', (context) => {
    requireKolla(context)
    requireRoot(context)
    requireTool(context, 'keepalived')
    expect(check((text) => text.replace('10.0.2.250 dev vip0', '10.0.2.250 dev vip9')).join()).toContain('vip9')
  })
})
