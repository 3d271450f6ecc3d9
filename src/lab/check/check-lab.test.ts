import { describe, expect, it } from 'vitest'
import { readLabWith } from '../../../test/lab.ts'
import { isFileLocation } from '../../errors/finding.ts'

const codes = (changes: Record<string, unknown>): readonly string[] =>
  readLabWith(changes).findings.map((finding) => finding.code)

describe('checkLab', () => {
  it.each([
    ['more memory than the host has', { 'spec.nodes.0.memory': '60GiB' }, 'SL8101'],
    ['all cores in use', {}, 'SL8102'],
    ['far more vCPUs than cores', { 'spec.nodes.0.cpus': 20 }, 'SL8103'],
    ['disks above the free space', {}, 'SL8104'],
    ['too little disk for a new lab', { 'spec.host.disk': '60GiB' }, 'SL8105'],
    ["a node below Kolla's minimum", { 'spec.nodes.1.memory': '4GiB' }, 'SL8106'],
    ['a VIP in the DHCP range', { 'spec.networks.management.dhcpEnd': '192.168.105.254' }, 'SL8110'],
    ['a node in the DHCP range', { 'spec.networks.tunnel.dhcpEnd': '10.0.1.12' }, 'SL8110'],
    ['floating addresses in the DHCP range', { 'spec.networks.external.floating': '10.0.2.5-10.0.2.8' }, 'SL8110'],
    ["Lima's own subnet", { 'spec.networks.storage.subnet': '192.168.5.0/24' }, 'SL8111'],
    ["Lima's shared subnet", {}, 'SL8112'],
    ['a VIP outside its network', { 'spec.vips.internal': '192.168.106.250' }, 'SL8002'],
    ['an invalid address', { 'spec.vips.external': '10.0.2.300' }, 'SL8001'],
    ['the VIP on the raw port', { 'spec.networks.external.vipInterface': 'ext0' }, 'SL8120'],
    ['an address on the raw port', { 'spec.nodes.0.addresses': { ext0: '10.0.2.11' } }, 'SL8121'],
    ['eth0 as an interface', { 'spec.networks.management.interface': 'eth0' }, 'SL8122'],
    ['a dash in an interface', { 'spec.networks.tunnel.interface': 'tun-0' }, 'SL8122'],
    ['a duplicate interface name', { 'spec.networks.tunnel.interface': 'mgmt0' }, 'SL8123'],
    ['a network that compute nodes lack', { 'spec.networks.tunnel.attached': ['network'] }, 'SL8124'],
    ['a .local domain', {}, 'SL8130'],
    ['an invalid domain', { 'spec.dns.domain': 'open_stack' }, 'SL8131'],
    ['an interface in globals', { 'spec.openstack.globals': { tunnel_interface: 'x' } }, 'SL8140'],
    ['storage_interface', { 'spec.openstack.globals': { storage_interface: 'x' } }, 'SL8141'],
    ['Ceph deployed by Kolla', { 'spec.openstack.globals': { enable_ceph: 'yes' } }, 'SL8142'],
    ['a long fernet expiry', { 'spec.openstack.globals': { fernet_token_expiry: 700_000 } }, 'SL8142'],
    ['a VIP set twice', { 'spec.openstack.globals': { kolla_internal_vip_address: 'x' } }, 'SL8143'],
    [
      'only one of two iSCSI variables',
      { 'spec.openstack.hostVars': { node3: { tgtd_interface_address: 'x' } } },
      'SL8144',
    ],
    ['a router id above 255', { 'spec.vips.routerId': 300 }, 'SL8145'],
    ['an unknown variable in globals', { 'spec.openstack.globals': { enable_horizn: 'yes' } }, 'SL8146'],
    ['an unknown variable of a node', { 'spec.openstack.hostVars': { node2: { migration_interfce: 'x' } } }, 'SL8146'],
    ['LVM without a disk', { 'spec.nodes.2.disks': { osd: '20GiB' } }, 'SL8150'],
    ['Ceph with one OSD', { 'spec.storage.phase': 'ceph', 'spec.nodes.2.disks': { lvm: '10GiB' } }, 'SL8150'],
    ['a small OSD', { 'spec.storage.phase': 'both', 'spec.nodes.1.disks.osd': '4GiB' }, 'SL8150'],
    [
      'images that upstream does not publish',
      { 'spec.containers': { base: 'ubuntu', build: ['nova-compute'] } },
      'SL8151',
    ],
    ['an image without a checksum', { 'spec.vm.image': { date: '20260101' } }, 'SL8152'],
    ['equal VIPs', { 'spec.vips.external': '192.168.105.250' }, 'SL8153'],
    ['no compute node', { 'spec.nodes.1.roles': ['storage'] }, 'SL8003'],
    ['a duplicate host number', { 'spec.nodes.1.host': 11 }, 'SL8004'],
    ['a duplicate node name', { 'spec.nodes.1.name': 'node1' }, 'SL2001'],
    ['a node that does not exist', { 'spec.openstack.hostVars': { node9: {} } }, 'SL2003'],
    ['two networks with the same subnet', { 'spec.networks.storage.subnet': '10.0.1.0/24' }, 'SL2110'],
    ['untested images', {}, 'SL8160'],
    ['emulated instances', {}, 'SL8161'],
    ['traffic without TLS', {}, 'SL8162'],
    ['state on an OS disk', {}, 'SL8163'],
  ])('finds %s', (_, changes, code) => {
    expect(codes(changes as Record<string, unknown>)).toContain(code)
  })

  it('finds address conflicts and names both owners', () => {
    const { findings } = readLabWith({ 'spec.nodes.1.addresses': { management: '192.168.105.250' } })
    const conflict = findings.find((finding) => finding.owners !== undefined)
    expect(conflict).toMatchObject({ severity: 'error' })
    expect(conflict?.owners?.join()).toMatch(/node2.*the internal VIP|the internal VIP.*node2/)
  })

  it('suggests the closest variable for a misspelt one', () => {
    const globals = { enable_horizn: 'no', openstack_service_wokers: 1 }
    const found = readLabWith({ 'spec.openstack.globals': globals }).findings
    const unknown = found.filter((finding) => finding.code === 'SL8146').map((finding) => finding.message)
    expect(unknown.join()).toMatch(/did you mean enable_horizon.*did you mean openstack_service_workers/)
  })

  it('knows variables of Kolla, of the bootstrap, of passwords.yml and of configuration files of the lab', () => {
    const openstack = {
      globals: {
        openstack_service_workers: '1',
        docker_apt_url: 'x',
        grafana_admin_password: 'x',
        greeting: 'x',
      },
      hostVars: { node1: { ansible_port: 22, migration_interface: 'stor0' } },
      config: { 'horizon/custom_local_settings': 'SITE_BRANDING = "{{ greeting | upper }}"' },
    }
    expect(codes({ 'spec.openstack': openstack })).not.toContain('SL8146')
  })

  it('does not report state on the OS disk when there is a state disk', () => {
    expect(codes({ 'spec.nodes.0.disks': { state: '40GiB' } })).not.toContain('SL8163')
  })

  it('accepts findings with a reason, and reports an acceptance that matches nothing', () => {
    const accept = [{ code: 'SL8101', reason: 'the host is idle' }]
    const { findings } = readLabWith({ 'spec.nodes.0.memory': '60GiB', 'spec.accept': accept })
    expect(findings.find((finding) => finding.code === 'SL8101')).toMatchObject({ severity: 'warning' })
    expect(codes({ 'spec.accept': accept })).toContain('SL2012')
  })

  it('gives every finding a location in the file', () => {
    const { findings } = readLabWith({ 'spec.vips.internal': '10.0.0.1' })
    expect(findings.length).toBeGreaterThan(0)
    for (const { where } of findings) expect(where && isFileLocation(where) && where.line).toBeGreaterThan(0)
  })
})
