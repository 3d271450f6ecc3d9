/**
 * Boots instances with libvirt on two hosts of a real OpenStack: each gets its address by DHCP and its metadata, and reaches the
 * other through the tunnels of the hosts. QEMU emulates the processor, which needs no support of this machine.
 */
import { describe, expect, it, vi } from 'vitest'
import { novaExternalComputes } from '../../../src/dataplane/kinds/nova.ts'
import { ovnMetadataAgents } from '../../../src/dataplane/kinds/ovn-metadata-agent.ts'
import { succeeded } from '../../../src/exec/process.ts'
import type { DataPlaneNodes } from '../dataplane/nodes.ts'
import { BUILD_GUEST, DISK, INITRAMFS, KERNEL } from './guest.ts'
import { deployed, soon, useHostsInCells } from './hosts-in-cells.ts'
import { createTunnelNetwork, describeTunnels, tunnelAddress } from './tunnel-network.ts'

vi.setConfig({ testTimeout: 5_400_000, hookTimeout: 1_800_000 })

const HOSTS = ['edpm-compute-0', 'edpm-compute-1'] as const

/** What Neutron tells instances of a Geneve network on a network with 1500. */
const GUEST_MTU = 1442

const LIBVIRT = `[libvirt]
virt_type = qemu
cpu_mode = none
images_type = raw
num_pcie_ports = 0
`

/** What a machine brings and a namespace does not (security labels, device cgroups), and a network for tunnels. */
async function prepare(nodes: DataPlaneNodes): Promise<void> {
  for (const host of HOSTS) {
    const script = `set -e
cat >>/etc/libvirt/qemu.conf <<END
security_driver = "none"
cgroup_controllers = []
namespaces = []
remember_owner = 0
END`
    const { exit, stderr } = await nodes.node(host).run('sh', '-c', script)
    if (!succeeded(exit)) throw new Error(stderr)
  }
  await createTunnelNetwork(nodes, HOSTS)
}

const deployment = useHostsInCells(HOSTS, {
  soakOnly: true,
  customServiceConfig: LIBVIRT,
  ansibleVars: (host) => ({ tenant_ip: tunnelAddress(deployment.nodes, host) }),
  prepare,
})

interface Identified {
  readonly id: string
}

interface Server extends Identified {
  readonly status: string
  readonly addresses: Readonly<Record<string, readonly { readonly addr: string }[]>>
}

async function uploadImage(name: string, format: string, file: string, more: object = {}): Promise<string> {
  const { post, upload } = deployment.cloud
  const formats = { disk_format: format, container_format: format === 'raw' ? 'bare' : format }
  const { id } = await post<Identified>('image', '/images', { name, ...formats, ...more })
  await upload(id, file)
  return id
}

async function createNetwork(): Promise<string> {
  const { post } = deployment.cloud
  const { network } = await post<{ readonly network: Identified }>('network', '/networks', { network: { name: 'net' } })
  const subnet = { network_id: network.id, ip_version: 4, cidr: '198.51.100.0/24' }
  await post('network', '/subnets', { subnet })
  return network.id
}

const show = async (id: string): Promise<Server> =>
  (await deployment.cloud.ask<{ readonly server: Server }>('compute', `/servers/${id}`)).server

async function consoleOf(id: string): Promise<string> {
  const request = { 'os-getConsoleOutput': {} }
  return (await deployment.cloud.post<{ readonly output: string }>('compute', `/servers/${id}/action`, request)).output
}

/** The largest one fills a packet: 28 bytes are headers. */
const sizes = [56, GUEST_MTU - 28]

/** User data that reaches other instances. The first packets are lost while the tunnel's own neighbour is found. */
function reach(addresses: readonly string[]): string {
  const reachOne = (address: string): string => `for size in ${sizes.join(' ')}; do
  for try in $(seq 30); do
    ping -q -c 1 -W 5 -s $size ${address} && echo GUEST reached ${address} with $size && break
    sleep 1
  done
done`
  return ['echo GUEST user data', ...addresses.map(reachOne)].join('\n')
}

describe('instances on two hosts', () => {
  it('boot, get their address, metadata and user data, and reach each other with every size that Neutron allows', async () => {
    for (const host of HOSTS) {
      await expect.poll(() => deployment.ready(novaExternalComputes, host), deployed).toBe('True')
      await expect.poll(() => deployment.ready(ovnMetadataAgents, host), deployed).toBe('True')
    }
    const { cloud } = deployment
    await cloud.onClient(BUILD_GUEST)
    const kernel = await uploadImage('kernel', 'aki', KERNEL)
    const ramdisk = await uploadImage('ramdisk', 'ari', INITRAMFS)
    const boot = { kernel_id: kernel, ramdisk_id: ramdisk, os_command_line: 'console=ttyS0' }
    const imageRef = await uploadImage('guest', 'raw', DISK, boot)
    const flavor = { name: 'guest', ram: 192, disk: 0, vcpus: 1 }
    const { id: flavorRef } = (await cloud.post<{ readonly flavor: Identified }>('compute', '/flavors', { flavor }))
      .flavor
    const networks = [{ uuid: await createNetwork() }]
    /** Addresses of the instances that run, for the user data of the next one. */
    const started: string[] = []
    const start = async (host: string, userData: string): Promise<Server> => {
      const user_data = Buffer.from(userData).toString('base64')
      const server = { name: `on-${host}`, flavorRef, imageRef, networks, availability_zone: `nova:${host}`, user_data }
      const created = await cloud.post<{ readonly server: Identified }>('compute', '/servers', { server })
      const state = async (): Promise<string> => (await show(created.server.id)).status
      await expect.poll(state, soon).toMatch(/ACTIVE|ERROR/)
      const found = await show(created.server.id)
      expect(found.status, JSON.stringify(found)).toBe('ACTIVE')
      return found
    }
    for (const host of HOSTS) {
      const { id, addresses } = await start(host, reach(started))
      await expect.poll(() => consoleOf(id), soon).toContain('GUEST done')
      const said = await consoleOf(id)
      const address = addresses['net']?.[0]?.addr ?? ''
      expect(said).toContain(`GUEST address ${address} mtu ${GUEST_MTU}`)
      expect(said).toMatch(/GUEST metadata i-[0-9a-f]{8}/)
      expect(said).toContain('GUEST user data')
      const reached = [...said.matchAll(/GUEST reached (\S+) with (\d+)/g)].map(([, to, size]) => `${to} ${size}`)
      const wanted = started.flatMap((to) => sizes.map((size) => `${to} ${size}`))
      if (reached.length < wanted.length) throw new Error(`${said}\n${await describeTunnels(deployment.nodes, HOSTS)}`)
      expect(reached).toEqual(wanted)
      started.push(address)
    }
  })
})
