/**
 * Tests the phases of nodes on a real API server: machines before phase 0, one run for many hosts, hundreds of nodes, and
 * a service that only its definition describes.
 */
import { describe, expect, it, vi } from 'vitest'
import { renderCrd } from '../../../src/api/crd.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import {
  type DataPlaneNode,
  dataPlaneNodes,
  dataPlaneRoles,
  dataPlaneServices,
  dataPlanes,
} from '../../../src/dataplane/kinds/data-plane.ts'
import { ovnMetadataAgents } from '../../../src/dataplane/kinds/ovn-metadata-agent.ts'
import { type BareMetalHost, bareMetalHosts } from '../../../src/dataplane/machines/bare-metal.ts'
import { nodeServices } from '../../../src/dataplane/service-definitions/all.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../../data-plane.ts'
import { weatherAgents as weather, weatherService } from '../../weather-service.ts'
import { useCases } from './cases.ts'

const cluster = useCluster({ crds: 'own-2023' })
const services = [...nodeServices, weatherService]
const machineNamespaces = Array.from({ length: 20 }, (_, index) => `machines-case-${index + 1}`)
const at = useCases(cluster, { services, machines: bareMetalHosts, machineNamespaces }, async () => {
  await cluster.client.apply(renderCrd(weatherService.crd), { fieldManager: 'test' })
  const served = async (): Promise<void> => {
    if (!(await cluster.client.resource(weather))) throw new Error('not served yet')
  }
  await vi.waitFor(served, { timeout: 20_000 })
})
const { create, get, patch, until, says, secretText, ran, secret, soon } = at
const nodeTemplate = { ansibleSSHPrivateKeySecret: SSH_SECRET }
const deploying = { nodeTemplate, deployStrategy: { deploy: true } }
const sshKey = (): Promise<void> =>
  secret(SSH_SECRET, { 'ssh-privatekey': 'a key', authorized_keys: 'ssh-ed25519 AAAA me' })

describe('services', () => {
  it('are deployed from their definition alone, such as one that exists only in this test', async () => {
    await sshKey()
    await create(dataPlaneRole('r', { ...deploying, services: [] }, { 'weather.example.org/station': 'hill' }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }))
    await says(weather, 'n', 'StationReady', 'Waiting for Secret hill')
    await secret('hill', { url: 'http://hill' })
    await until(weather, 'n', 'Ready', 'True')
    expect(await secretText('n-weather-config-data', '01-weather.conf')).toBe('[DEFAULT]\nurl = http://hill\n')
    expect(ran()).toEqual(['weather n'])
    await until(dataPlaneNodes, 'n', 'ServicesReady', 'True')
  })

  it("take document 003's `debug = True` for the OVN metadata agent from customServiceConfig", async () => {
    await sshKey()
    await secret('neutron-ovn-metadata-agent-neutron-config', {
      '10-neutron-metadata.conf': '[ovn]\novn_sb_connection = ssl:10.0.0.1:6642\n',
    })
    await secret('nova-metadata-neutron-config', {
      '05-nova-metadata.conf': '[DEFAULT]\nnova_metadata_host = nova.example\nmetadata_proxy_shared_secret = s3cret\n',
    })
    await create(
      dataPlaneRole('r', { ...deploying, services: [] }, { 'neutron.openstack.org/ovn-metadata-agent': 'true' }),
    )
    await create(dataPlaneNode('n', { role: 'r', hostName: 'host-n', ansibleHost: '192.168.122.1' }))
    await until(ovnMetadataAgents, 'n', 'Ready', 'True')
    const custom = '[DEFAULT]\ndebug = True\n'
    await patch(ovnMetadataAgents, 'n', { spec: { customServiceConfig: custom } })
    const file = (name: string): Promise<string | undefined> => secretText('n-ovn-metadata-config-data', name)
    await expect.poll(() => file('02-neutron-metadata-override.conf'), soon).toBe(custom)
    const generated = await file('01-neutron-metadata.conf')
    for (const line of [
      'host = host-n',
      'ovn_sb_connection = ssl:10.0.0.1:6642',
      'metadata_proxy_shared_secret = s3cret',
    ]) {
      expect(generated).toContain(`${line}\n`)
    }
    await expect.poll(ran, soon).toEqual(['ovn-metadata n', 'ovn-metadata n'])
  })
})

describe('phase 0', () => {
  it('follows the order of the role, with custom and built-in services', async () => {
    await sshKey()
    const play = '- hosts: all\n  tasks: []\n'
    await create({ ...dataPlaneServices, metadata: { name: 'my-service' }, spec: { label: 'mine', play } })
    await create(dataPlaneRole('r', { ...deploying, services: ['configure-network', 'my-service', 'run-os'] }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }))
    await until(dataPlaneNodes, 'n', 'Ready', 'True')
    expect(ran()).toEqual(['configure-network n', 'my-service n', 'run-os n'])
    const custom = at.executor.recorded.find(
      ({ step, namespace }) => step === 'my-service' && namespace === at.namespace,
    )
    expect(custom?.run).toMatch(/^mine-r-[0-9a-f]{16}-1$/)
    expect(custom?.spec).toMatchObject({ play, backoffLimit: 0 })
    await until(dataPlaneNodes, 'n', 'my-service service ready', 'True')
  })

  it('runs again on the same hosts when the content of a mounted Secret changes', async () => {
    await sshKey()
    await secret('ceph', { key: 'one' })
    const extraMounts = [
      {
        volumes: [{ name: 'ceph', secret: { secretName: 'ceph' } }],
        mounts: [{ name: 'ceph', mountPath: '/etc/ceph' }],
      },
    ]
    const mounted = { ...deploying, nodeTemplate: { ...nodeTemplate, extraMounts } }
    await create(dataPlaneRole('r', { ...mounted, services: ['install-os'] }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }))
    await until(dataPlaneNodes, 'n', 'Ready', 'True')
    await secret('other', { key: 'nobody mounts it' })
    await patch({ apiVersion: 'v1', kind: 'Secret' }, 'ceph', { stringData: { key: 'two' } })
    await expect.poll(ran, soon).toEqual(['install-os n', 'install-os n'])
    await until(dataPlaneNodes, 'n', 'Ready', 'True')
  })

  it('applies the former inputs again when a run with others failed after them', async () => {
    await sshKey()
    const withSetting = (value: string): object => ({
      spec: { nodeTemplate: { ansibleVars: `setting: ${value}` } },
    })
    const firstVars = { nodeTemplate: { ...nodeTemplate, ansibleVars: 'setting: right' } }
    await create(dataPlaneRole('r', { ...deploying, ...firstVars, services: ['install-os'] }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }))
    await until(dataPlaneNodes, 'n', 'Ready', 'True')
    const failed = { ok: 1, changed: 1, failures: 1, unreachable: 0 }
    at.play = () => ({ reason: 'Failed', message: 'wrong', hosts: { n: failed } })
    await patch(dataPlaneRoles, 'r', withSetting('wrong'))
    await until(dataPlaneNodes, 'n', 'Ready', 'False')
    const overwritten = async (): Promise<string | undefined> =>
      ((await get(dataPlaneNodes, 'n')) as DataPlaneNode).status?.applied?.['install-os']?.overwrittenBy
    await expect.poll(overwritten, soon).toBe(at.executor.recorded.at(-1)?.run)
    at.play = () => ({})
    await patch(dataPlaneRoles, 'r', withSetting('right'))
    await until(dataPlaneNodes, 'n', 'Ready', 'True')
    expect(await overwritten()).toBeUndefined()
    expect(ran()).toEqual(['install-os n', 'install-os n', 'install-os n'])
  })

  it('runs again on a node that was deleted and created again', async () => {
    await sshKey()
    await create(dataPlaneRole('r', { ...deploying, services: ['install-os'] }))
    const node = dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' })
    await create(node)
    await until(dataPlaneNodes, 'n', 'Ready', 'True')
    await cluster.client.delete({ ...dataPlaneNodes, namespace: at.namespace, name: 'n' })
    await expect.poll(() => get(dataPlaneNodes, 'n'), soon).toBeUndefined()
    // Older than the differences between clocks of API servers.
    await new Promise((resolve) => setTimeout(resolve, 6_100))
    await create(node)
    await until(dataPlaneNodes, 'n', 'Ready', 'True')
    expect(ran()).toEqual(['install-os n', 'install-os n'])
  })

  it('of a node that is added later runs, although the role is done', async () => {
    await sshKey()
    await create(dataPlaneRole('r', { ...deploying, services: ['install-os'] }))
    await create(dataPlaneNode('first', { role: 'r', ansibleHost: '192.168.122.1' }))
    await until(dataPlaneNodes, 'first', 'Ready', 'True')
    await until(dataPlaneRoles, 'r', 'Ready', 'True')
    at.play = () => undefined
    await create(dataPlaneNode('later', { role: 'r', ansibleHost: '192.168.122.2' }))
    await expect.poll(ran, soon).toEqual(['install-os first', 'install-os later'])
    await until(dataPlaneNodes, 'later', 'Ready', 'False')
    await until(dataPlaneNodes, 'first', 'Ready', 'True')
    expect(((await get(dataPlaneNodes, 'later')) as DataPlaneNode).status?.deployed).toBe(false)
    at.play = () => ({})
    const [open] = (await cluster.client.list(ansibleRuns, { namespace: at.namespace })).items.filter(
      (run) => (run as { status?: { JobStatus?: string } }).status?.JobStatus !== 'Succeeded',
    )
    await patch(ansibleRuns, open?.metadata.name ?? '', { metadata: { labels: { look: 'again' } } })
    await until(dataPlaneNodes, 'later', 'Ready', 'True')
  })

  it('waits at a service that does not exist, and names it', async () => {
    await sshKey()
    await create(dataPlaneRole('r', { ...deploying, services: ['install-os', 'nobody-has-it', 'run-os'] }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }))
    await says(dataPlaneNodes, 'n', 'DeploymentReady', 'SL7109')
    await expect.poll(ran, soon).toEqual(['install-os n'])
  })
})

describe('phase -1', () => {
  const machines = (): string => `machines-${at.namespace}`
  const machine = async (name: string, cpus: number, labels = { rack: 'a' }): Promise<void> => {
    const metadata = { name, namespace: machines(), labels }
    const made = await cluster.client.create({ ...bareMetalHosts, metadata, spec: { online: false } })
    await asMetal3(made, 'available', cpus)
  }
  /** Simulates metal3: provisions a machine that has an image. */
  const asMetal3 = async (host: KubeObject, state: string, cpus = 8): Promise<void> => {
    const status = {
      errorCount: 0,
      errorMessage: '',
      hardwareProfile: 'unknown',
      operationalStatus: 'OK',
      poweredOn: false,
      provisioning: { ID: '1', state, image: { url: '' } },
      hardware: { cpu: { arch: 'x86_64', count: cpus }, ramMebibytes: 65_536 },
    }
    await cluster.client.update({ ...host, status }, { subresource: 'status' })
  }
  const host = async (name: string): Promise<BareMetalHost> =>
    (await cluster.client.get({ ...bareMetalHosts, namespace: machines(), name })) as BareMetalHost

  it('claims a free machine that fits for each node, never one for two, before phase 0', async () => {
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: machines() } })
    await machine('large', 32)
    await machine('small', 2)
    await machine('elsewhere', 32, { rack: 'b' })
    await sshKey()
    const baremetalSetTemplate = {
      bmhNamespace: machines(),
      bmhLabelSelector: { rack: 'a' },
      hardwareReqs: { cpuReqs: { countReq: { count: 8 } } },
      ctlplaneInterface: 'eno1',
      deploymentSSHSecret: SSH_SECRET,
      cloudUserName: 'cloud-admin',
      osImage: 'http://images/edpm.qcow2',
    }
    await create(dataPlaneRole('r', { ...deploying, services: ['install-os'], baremetalSetTemplate }))
    await create(dataPlaneNode('a', { role: 'r', hostName: 'a', ansibleHost: '192.168.122.100' }))
    await expect.poll(async () => (await host('large')).spec.consumerRef?.name, soon).toBe('a')
    const { spec } = await host('large')
    expect(spec).toMatchObject({
      online: true,
      image: { url: 'http://images/edpm.qcow2', checksum: 'http://images/edpm.qcow2.sha256' },
    })
    const user = await cluster.client.get({
      apiVersion: 'v1',
      kind: 'Secret',
      ...(spec.userData ?? { name: '' }),
    })
    const text = Buffer.from((user?.['data'] as Record<string, string>)?.['userData'] ?? '', 'base64').toString()
    expect(text).toContain('ssh-ed25519 AAAA me')
    await create(dataPlaneNode('b', { role: 'r', hostName: 'b', ansibleHost: '192.168.122.101' }))
    await says(dataPlaneNodes, 'b', 'SetupReady', 'SL7111')
    expect(ran()).toEqual([])
    await asMetal3(await host('large'), 'provisioned')
    await until(dataPlaneNodes, 'a', 'Ready', 'True')
    expect(ran()).toEqual(['install-os a'])
    expect((await host('small')).spec.consumerRef).toBeUndefined()
    await cluster.client.delete({ ...dataPlaneNodes, namespace: at.namespace, name: 'a' })
    await expect.poll(async () => (await host('large')).spec.image, soon).toBeUndefined()
    expect((await host('large')).spec.consumerRef).toBeUndefined()
  })
})

describe('an OpenStackDataPlane', () => {
  it('applies its roles and nodes, and keeps annotations that people set on them', async () => {
    await sshKey()
    const roles = { r: { nodeTemplate, services: ['install-os'] } }
    const nodes = { n: { role: 'r', ansibleHost: '192.168.122.1' } }
    await create({
      ...dataPlanes,
      metadata: { name: 'plane' },
      spec: { roles, nodes, deployStrategy: { deploy: true } },
    })
    await until(dataPlanes, 'plane', 'Ready', 'True')
    await patch(dataPlaneRoles, 'r', { metadata: { annotations: { mine: 'yes' } } })
    await patch(dataPlanes, 'plane', { spec: { nodes: { n: { hostName: 'new' } } } })
    await expect.poll(async () => ((await get(dataPlaneNodes, 'n')) as DataPlaneNode).spec.hostName, soon).toBe('new')
    expect((await get(dataPlaneRoles, 'r'))?.metadata.annotations?.['mine']).toBe('yes')
  })
})

describe('many nodes', () => {
  it('are deployed in few runs that never overlap on a host, each host once per step', async () => {
    await create(dataPlaneRole('r', { ...deploying, services: ['configure-network', 'install-os'] }))
    const many = count({ test: 60, soak: 200 })
    const names = Array.from({ length: many }, (_, index) => `n-${String(index).padStart(3, '0')}`)
    await Promise.all(
      names.map((name, index) => create(dataPlaneNode(name, { role: 'r', ansibleHost: `192.168.1.${index}` }))),
    )
    // They all wait for the key, so that they start together.
    await sshKey()
    const ready = async (): Promise<number> =>
      (await cluster.client.list(dataPlaneNodes, { namespace: at.namespace })).items.filter((node) =>
        (node as DataPlaneNode).status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
      ).length
    await expect.poll(ready, { timeout: 240_000, interval: 200 }).toBe(many)
    const mine = at.executor.recorded.filter(({ namespace }) => namespace === at.namespace)
    const touched = mine.flatMap(({ step, hosts }) => hosts.map((host) => `${step} ${host}`))
    expect(touched.length).toBe(2 * many)
    expect(new Set(touched).size).toBe(2 * many)
    expect(mine.length).toBeLessThan(many / 2)
    expect(at.executor.overlaps).toEqual([])
    expect(at.controllers.errors).toEqual([])
  }, 300_000)
})
