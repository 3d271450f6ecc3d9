import { describe, expect, it } from 'vitest'
import { labText, labWith } from '../../test/lab.ts'
import { sumResources } from './check/budget.ts'
import { buildGlobals } from './kolla/globals.ts'
import { buildHostVars } from './kolla/inventory.ts'
import type { LabNode } from './lab.ts'
import { buildNetplan } from './lima/networks.ts'
import { readLab } from './read-lab.ts'

const lab = labWith()
const node = (name: string): LabNode => lab.nodes.find((node) => node.name === name) as LabNode

/** Rows of document 004 that the presets change, with the reason. Everything else is as in the document. */
const corrected = {
  'storage_interface maps iSCSI': 'removed from Kolla-Ansible: tgtd_interface_address and target_ip_address instead',
  'isolated external network': 'instances need a way out, so it is shared, which is NAT',
  'external VIP on the raw network port': 'the raw port is a member of br-ex, so a second NIC, vip0, has the VIP',
  'Ubuntu container images on ARM64': 'upstream publishes Debian images only for aarch64',
  'tunnel carries VXLAN': 'OVN uses Geneve',
  'isolated networks with UUIDs': 'Lima passes no identifier: dhcpEnd limits the DHCP server instead',
  'VIP .250 with the default DHCP range': 'dhcpEnd is .9, below every address of the lab',
}

describe("document 004's node table", () => {
  it.each([
    ['node1', { roles: ['control', 'network', 'monitoring', 'ceph-mon'], memory: 32, cpus: 6, disk: 60 }, {}],
    ['node2', { roles: ['compute'], memory: 28, cpus: 4, disk: 40 }, { osd: 20 }],
    ['node3', { roles: ['storage'], memory: 12, cpus: 2, disk: 30 }, { lvm: 10, osd: 20 }],
  ])('%s', (name, row, disks) => {
    const found = node(name)
    expect(found).toMatchObject(row)
    expect(Object.fromEntries(found.disks.map((disk) => [disk.use, disk.size]))).toEqual(disks)
  })

  it('has the totals of the document', () => {
    expect(sumResources(lab)).toMatchObject({
      memory: 72,
      cpus: 12,
      osDisk: 130,
      lvmDisk: 10,
      osdDisk: 40,
      nominalDisk: 180,
    })
  })

  it('has a four-node variant with 24 GB for the controller and 20 GB for each compute', () => {
    const four = labWith({}, { preset: 'four-node' })
    expect(four.nodes.map((node) => [node.name, node.memory])).toEqual([
      ['node1', 24],
      ['node2', 20],
      ['node3', 12],
      ['node4', 20],
    ])
    expect(sumResources(four)).toMatchObject({ memory: 76, cpus: 16, osDisk: 170, nominalDisk: 220 })
  })
})

describe("document 004's network table", () => {
  it.each([
    ['management', 'shared', '192.168.105.0/24', ['node1', 'node2', 'node3']],
    ['tunnel', 'host', '10.0.1.0/24', ['node1', 'node2']],
    ['external', 'shared', '10.0.2.0/24', ['node1']],
    ['storage', 'host', '10.0.3.0/24', ['node1', 'node2', 'node3']],
  ] as const)('%s', (name, mode, subnet, attached) => {
    expect(lab.networks[name]).toMatchObject({ mode, subnet })
    const on = lab.nodes.filter((node) => node.nics.some((nic) => nic.network === name))
    expect(on.map((labNode) => labNode.name)).toEqual(attached)
  })

  it('has both VIPs', () => {
    expect(buildGlobals(lab)).toMatchObject({
      kolla_internal_vip_address: '192.168.105.250',
      kolla_external_vip_address: '10.0.2.250',
    })
  })
})

describe("document 004's interface mapping", () => {
  it.each([
    ['network_interface', 'mgmt0', 'has an address'],
    ['tunnel_interface', 'tun0', 'has an address'],
    ['neutron_external_interface', 'ext0', 'has none'],
    ['kolla_external_vip_interface', 'vip0', 'has an address'],
  ])('%s is %s and %s', (variable, name, address) => {
    expect(buildHostVars(lab, node('node1'))[variable]).toBe(name)
    const nic = node('node1').nics.find((nic) => nic.interface === name)
    expect(nic?.address === undefined).toBe(address === 'has none')
  })

  it('serves iSCSI on the storage network, where it is advertised', () => {
    expect(buildHostVars(lab, node('node3'))).toMatchObject({ tgtd_interface_address: '10.0.3.13' })
  })

  it.each(Object.entries(corrected))('corrects "%s": %s', (row) => {
    const vars = buildHostVars(lab, node('node1'))
    const globals = buildGlobals(lab)
    const holds: Readonly<Record<string, () => void>> = {
      'storage_interface maps iSCSI': () => expect(vars).not.toHaveProperty('storage_interface'),
      'isolated external network': () => expect(lab.networks.external.mode).toBe('shared'),
      'external VIP on the raw network port': () =>
        expect(vars['kolla_external_vip_interface']).not.toBe(vars['neutron_external_interface']),
      'Ubuntu container images on ARM64': () =>
        expect(globals).toMatchObject({ kolla_base_distro: 'debian', openstack_tag_suffix: '-aarch64' }),
      'tunnel carries VXLAN': () => expect(globals).not.toHaveProperty('neutron_tenant_network_types'),
      'isolated networks with UUIDs': () => expect(lab.networks.tunnel.dhcpEnd).toBe('10.0.1.9'),
      'VIP .250 with the default DHCP range': () => expect(lab.networks.management.dhcpEnd).toBe('192.168.105.9'),
    }
    const check = holds[row]
    expect(check).toBeDefined()
    check?.()
  })
})

describe('presets', () => {
  it.each(['three-node', 'four-node'] as const)('%s has no errors', (preset) => {
    const { findings } = readLab(labText({ preset }), 'lab.yaml')
    expect(findings.filter((finding) => finding.severity === 'error')).toEqual([])
  })

  it('leave the raw port without address, DHCP or link-local', () => {
    const plan = buildNetplan(lab, node('node1')) as { network: { ethernets: Record<string, unknown> } }
    expect(plan.network.ethernets['ext0']).toEqual({
      dhcp4: false,
      dhcp6: false,
      'accept-ra': false,
      'link-local': [],
      optional: true,
    })
  })

  it('keep the addresses and disks of all nodes when a node is added', () => {
    const four = labWith({}, { preset: 'four-node' })
    for (const old of lab.nodes) {
      const scaled = four.nodes.find((node) => node.name === old.name)
      expect(scaled).toMatchObject({ nics: old.nics, disks: old.disks })
    }
  })
})
