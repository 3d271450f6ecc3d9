/**
 * Deploys hosts into cells of a real OpenStack by the operator: addresses, names, phase 0, phase 1. Nova, Placement and
 * Neutron say whether it worked. Each test continues with the hosts as the one before left them.
 */
import { describe, expect, it, vi } from 'vitest'
import { type IpSet, ipSets } from '../../../src/api/ipset.ts'
import type { GroupVersionKind } from '../../../src/api/object.ts'
import { findCondition } from '../../../src/api/raw-object.ts'
import { dnsDatas } from '../../../src/controllers/dns/dns-kinds.ts'
import { type AnsibleRun, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { dataPlaneNodes } from '../../../src/dataplane/kinds/data-plane.ts'
import { novaCells, novaExternalComputes } from '../../../src/dataplane/kinds/nova.ts'
import { ovnMetadataAgents } from '../../../src/dataplane/kinds/ovn-metadata-agent.ts'
import { STEP_ANNOTATION } from '../../../src/dataplane/runs/attempts.ts'
import { count, requireSoak } from '../../counts.ts'
import { CELL } from '../../data-plane.ts'
import { createCell, deployed, FAKE_DRIVER, namespace, soon, useHostsInCells } from './hosts-in-cells.ts'

vi.setConfig({ testTimeout: 5_400_000, hookTimeout: 1_800_000 })

const HOSTS = ['edpm-compute-0', 'edpm-compute-1'].slice(0, count({ test: 1, soak: 2 }))
const [FIRST = '', SECOND = ''] = HOSTS
const deployment = useHostsInCells(HOSTS)
const { cluster, nodes, cellOf, get, ready, patch } = deployment

interface Identified {
  readonly id: string
}

/** The instance on each host. */
const instances = new Map<string, string>()

interface Services {
  readonly services: readonly { readonly host: string; readonly state: string }[]
}

async function computeServices(): Promise<readonly string[]> {
  const { services } = await deployment.cloud.ask<Services>('compute', '/os-services?binary=nova-compute')
  return services.map(({ host, state }) => `${host} ${state}`).toSorted()
}

interface Hypervisors {
  readonly hypervisors: readonly { readonly hypervisor_hostname: string; readonly state: string }[]
}

async function hypervisors(): Promise<readonly string[]> {
  const { hypervisors } = await deployment.cloud.ask<Hypervisors>('compute', '/os-hypervisors')
  return hypervisors.map(({ hypervisor_hostname, state }) => `${hypervisor_hostname} ${state}`).toSorted()
}

function cellInNova(host: string): Promise<string> {
  const mappings = 'nova_api.host_mappings h JOIN nova_api.cell_mappings c ON h.cell_id = c.id'
  return deployment.cloud.onControl(`mariadb -BNe "SELECT c.name FROM ${mappings} WHERE h.host = '${host}'"`)
}

interface Providers {
  readonly resource_providers: readonly { readonly uuid: string; readonly name: string }[]
}

async function providers(): Promise<Providers['resource_providers']> {
  return (await deployment.cloud.ask<Providers>('placement', '/resource_providers')).resource_providers
}

interface Agents {
  readonly agents: readonly { readonly host: string; readonly alive: boolean; readonly agent_type: string }[]
}

async function networkAgents(): Promise<readonly string[]> {
  const { agents } = await deployment.cloud.ask<Agents>('network', '/agents')
  return agents.map(({ host, alive, agent_type }) => `${host} ${agent_type} ${alive ? 'alive' : 'dead'}`).toSorted()
}

const agentsOf = (hosts: readonly string[]): readonly string[] =>
  hosts.flatMap((host) => [`${host} OVN Controller agent alive`, `${host} OVN Metadata agent alive`])

/** Changes with each start of the unit. */
async function invocation(host: string, service: string): Promise<string> {
  const words = ['systemctl', 'show', '--property', 'InvocationID', '--value', `stackloom-${service}.service`]
  return (await nodes.node(host).run(...words)).stdout.trim()
}

/** `deleted`, or why the object is still there. */
async function removal(kind: GroupVersionKind, name: string): Promise<string> {
  const object = await get(kind, name)
  return object === undefined ? 'deleted' : (findCondition(object, 'DecommissionReady')?.message ?? '')
}

async function runsOfStep(step: string, host: string): Promise<readonly AnsibleRun[]> {
  const { items } = await cluster.client.list(ansibleRuns, { namespace })
  return (items as unknown as readonly AnsibleRun[]).filter(
    ({ metadata }) =>
      metadata.annotations?.[STEP_ANNOTATION] === step && JSON.stringify(metadata.annotations).includes(host),
  )
}

/** Waits for the run of a step on a host, and takes the power of the host away while it works. */
async function losePowerDuring(step: string, host: string): Promise<void> {
  const isActive = async (): Promise<boolean> =>
    (await runsOfStep(step, host)).some(({ status }) => status?.JobStatus === 'Running' && !status.result)
  await expect.poll(isActive, { timeout: 2_700_000, interval: 300 }).toBe(true)
  await nodes.node(host).losePower()
  await nodes.node(host).powerOn()
}

describe('hosts of a real cloud', () => {
  it('are deployed in the end when the power is lost in each phase', async (context) => {
    requireSoak(context)
    for (const step of ['configure-os', 'run-os', 'nova']) await losePowerDuring(step, SECOND)
    await expect.poll(() => ready(novaExternalComputes, SECOND), deployed).toBe('True')
  })

  it('are deployed by the operator, with addresses and names', async () => {
    for (const host of HOSTS) {
      await expect.poll(() => ready(dataPlaneNodes, host), deployed).toBe('True')
      await expect.poll(() => ready(novaExternalComputes, host), deployed).toBe('True')
      await expect.poll(() => ready(ovnMetadataAgents, host), deployed).toBe('True')
      const ipSet = (await get(ipSets, host)) as IpSet
      expect(ipSet.status?.reservations).toMatchObject([{ network: 'ctlplane', address: nodes.node(host).address }])
      expect(JSON.stringify(await get(dnsDatas, `${host}-dataplane`))).toContain(`${host}.ctlplane.example.org`)
    }
  })

  it('are up in their cells, with inventory in Placement, and chassis and metadata agent alive', async () => {
    const { cloud } = deployment
    await expect.poll(computeServices, soon).toEqual(HOSTS.map((host) => `${host} up`))
    await expect.poll(hypervisors, soon).toEqual(HOSTS.map((host) => `${host} up`))
    for (const host of HOSTS) expect(await cellInNova(host)).toBe(cellOf(host))
    expect((await providers()).map(({ name }) => name).toSorted()).toEqual(HOSTS)
    for (const { uuid } of await providers()) {
      const path = `/resource_providers/${uuid}/inventories`
      const { inventories } = await cloud.ask<{ readonly inventories: object }>('placement', path)
      expect(Object.keys(inventories).toSorted()).toEqual(['DISK_GB', 'MEMORY_MB', 'VCPU'])
    }
    await expect.poll(networkAgents, soon).toEqual(agentsOf(HOSTS))
  })

  it('run instances', async () => {
    const { ask, post, upload } = deployment.cloud
    const size = { name: 'tiny', ram: 64, disk: 0, vcpus: 1 }
    const { flavor } = await post<{ readonly flavor: Identified }>('compute', '/flavors', { flavor: size })
    const format = { name: 'none', disk_format: 'raw', container_format: 'bare' }
    const image = await post<Identified>('image', '/images', format)
    await upload(image.id, '/etc/hostname')
    for (const host of HOSTS) {
      const request = { flavorRef: flavor.id, imageRef: image.id, networks: 'none', availability_zone: `nova:${host}` }
      const { server } = await post<{ readonly server: Identified }>('compute', '/servers', {
        server: { ...request, name: `on-${host}` },
      })
      instances.set(host, server.id)
      const status = async (): Promise<string> =>
        (await ask<{ readonly server: { readonly status: string } }>('compute', `/servers/${server.id}`)).server.status
      await expect.poll(status, soon).toBe('ACTIVE')
    }
  })

  it('restart nova-compute and nothing else when its customServiceConfig changes', async () => {
    const services = ['libvirt', 'nova', 'ovn-metadata']
    const starts = (): Promise<readonly string[]> => Promise.all(services.map((service) => invocation(FIRST, service)))
    const [libvirt, nova, agent] = await starts()
    const onOthers = (): Promise<readonly string[]> =>
      Promise.all(HOSTS.slice(1).map((host) => invocation(host, 'nova')))
    const others = await onOthers()
    const customServiceConfig = `${FAKE_DRIVER}reserved_host_memory_mb = 777\n`
    await patch(novaExternalComputes, FIRST, { spec: { customServiceConfig } })
    await expect.poll(async () => (await starts())[1], deployed).not.toBe(nova)
    await expect.poll(() => ready(novaExternalComputes, FIRST), deployed).toBe('True')
    expect(await starts()).toEqual([libvirt, expect.anything(), agent])
    expect(await onOthers()).toEqual(others)
    // The running service has the value: it reports it to Placement.
    const reserved = async (): Promise<number> => {
      const uuid = (await providers()).find(({ name }) => name === FIRST)?.uuid
      const path = `/resource_providers/${uuid}/inventories/MEMORY_MB`
      return (await deployment.cloud.ask<{ readonly reserved: number }>('placement', path)).reserved
    }
    await expect.poll(reserved, soon).toBe(777)
  })

  it('come back after a reboot without the operator', async (context) => {
    requireSoak(context)
    await deployment.stopOperator()
    const before = await invocation(FIRST, 'nova')
    await nodes.node(FIRST).losePower()
    await nodes.node(FIRST).powerOn()
    await expect.poll(() => invocation(FIRST, 'nova'), soon).not.toBe(before)
    await expect.poll(computeServices, soon).toEqual(HOSTS.map((host) => `${host} up`))
    await expect.poll(networkAgents, soon).toEqual(agentsOf(HOSTS))
    await deployment.startOperator()
  })

  it('say why nova-compute does not start, and recover with the cause', async (context) => {
    requireSoak(context)
    const bus = deployment.cloud.transportUrl(cellOf(SECOND))
    const wrongs = [
      {
        secret: `${cellOf(SECOND)}-bus`,
        key: 'transport_url',
        wrong: bus.replace(/:[0-9a-f]+@/, ':wrong@'),
        code: 'SL7148',
      },
      { secret: `${cellOf(SECOND)}-bus`, key: 'transport_url', wrong: bus.replace(':5671', ':1'), code: 'SL7149' },
      { secret: 'nova-secret', key: 'ServicePassword', wrong: 'wrong', code: 'SL7151' },
    ]
    const secrets = { apiVersion: 'v1', kind: 'Secret' }
    for (const { secret, key, wrong, code } of wrongs) {
      const { data } = (await get(secrets, secret)) as unknown as { readonly data: Readonly<Record<string, string>> }
      await patch(secrets, secret, { stringData: { [key]: wrong } })
      const named = new RegExp(`${SECOND}: Check that the service runs: .*${code}`)
      await expect.poll(() => ready(novaExternalComputes, SECOND), deployed).toMatch(named)
      await patch(secrets, secret, { data })
      await expect.poll(() => ready(novaExternalComputes, SECOND), deployed).toBe('True')
    }
  })

  it('are not deployed while nova-compute does not reach Placement or libvirt, and say which', async (context) => {
    requireSoak(context)
    const socket = '/run/libvirt/libvirt-sock'
    const onSecond = async (script: string): Promise<void> => void (await nodes.node(SECOND).run('sh', '-c', script))
    const onControl = async (script: string): Promise<void> => void (await deployment.cloud.onControl(script))
    const closed = 'INPUT --protocol tcp --dport 8778 ! --in-interface lo --jump REJECT --reject-with tcp-reset'
    const configure = async (customServiceConfig: string): Promise<void> =>
      void (await patch(novaExternalComputes, SECOND, { spec: { customServiceConfig } }))
    const failsWith = (code: string): Promise<void> =>
      expect
        .poll(() => ready(novaExternalComputes, SECOND), deployed)
        .toMatch(new RegExp(`${SECOND}: Check that the service runs: .*${code}`))
    const isDeployed = (): Promise<void> =>
      expect.poll(() => ready(novaExternalComputes, SECOND), deployed).toBe('True')

    await onControl(`iptables --append ${closed}`)
    await configure(`${FAKE_DRIVER}reserved_host_memory_mb = 778\n`)
    await failsWith('SL7150')
    await onControl(`iptables --delete ${closed}`)
    await configure(FAKE_DRIVER)
    await isDeployed()

    await onSecond(`mv ${socket} ${socket}.away`)
    await configure('[DEFAULT]\ncompute_driver = libvirt.LibvirtDriver\n[libvirt]\nvirt_type = qemu\n')
    await failsWith('SL7152')
    // The socket comes back last: with it, the nova-compute that systemd starts again and again would replace the compute node.
    await configure(FAKE_DRIVER)
    await isDeployed()
    await onSecond(`mv ${socket}.away ${socket}`)
  })

  it('keep their cell: another one that exists is refused', async () => {
    // `make test` has one host, so that its cloud has no second cell yet.
    if (SECOND === '') await createCell(cluster.client, deployment.cloud, 'cell2')
    expect(await ready(novaCells, 'nova-cell2')).toBe('True')
    const annotations = { [CELL]: 'nova-cell2' }
    await expect(patch(dataPlaneNodes, FIRST, { metadata: { annotations } })).rejects.toThrow(
      /"nova-cell2" for node edpm-compute-0, but its NovaExternalCompute has cellName nova-cell1, which is immutable/,
    )
    await expect(patch(novaExternalComputes, FIRST, { spec: { cellName: 'nova-cell2' } })).rejects.toThrow(
      'cellName is set once',
    )
    expect(await cellInNova(FIRST)).toBe('cell1')
  })

  it('leave Nova and Placement when they are decommissioned, not while they have instances', async (context) => {
    requireSoak(context)
    const condition = (): Promise<string> => removal(novaExternalComputes, FIRST)
    await cluster.client.delete({ ...novaExternalComputes, namespace, name: FIRST })
    await patch(dataPlaneNodes, FIRST, { metadata: { annotations: { [CELL]: '' } } })
    await expect.poll(condition, soon).toMatch(/instance/)
    await deployment.cloud.remove('compute', `/servers/${instances.get(FIRST)}`)
    await expect.poll(condition, deployed).toBe('deleted')
    expect(await computeServices()).toEqual([`${SECOND} up`])
    expect((await providers()).map(({ name }) => name)).toEqual([SECOND])
    const { stdout } = await nodes
      .node(FIRST)
      .run('sh', '-c', 'ls /etc/systemd/system/stackloom-nova* /var/lib/openstack/config/nova; pgrep -f [n]ova-compute')
    expect(stdout).toBe('')
  })

  it('leave Neutron, OVN and the machine when their node is deleted', async (context) => {
    requireSoak(context)
    const node = nodes.node(FIRST)
    await cluster.client.delete({ ...dataPlaneNodes, namespace, name: FIRST })
    await expect.poll(() => removal(dataPlaneNodes, FIRST), deployed).toBe('deleted')
    expect(await networkAgents()).toEqual(agentsOf([SECOND]))
    const chassis = await deployment.cloud.onControl('ovn-sbctl --bare --columns=hostname list Chassis')
    expect(chassis).toBe(SECOND)
    const states = await node.run('systemctl', 'is-active', 'openvswitch-switch', 'ovn-controller')
    expect(states.stdout).toBe('active\ninactive\n')
    const files = await node.run(
      'find',
      '/etc/systemd/system',
      '/var/lib/stackloom',
      '-name',
      '*stackloom*',
      '-o',
      '-name',
      'phase-0',
    )
    expect(files.stdout).toBe('/var/lib/stackloom\n')
    expect(await get(ipSets, FIRST)).toBeUndefined()
    expect(await get(ovnMetadataAgents, FIRST)).toBeUndefined()
  })
})
