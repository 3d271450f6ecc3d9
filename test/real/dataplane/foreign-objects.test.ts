/**
 * Puts objects of another owner where the data plane controllers write and delete: each must stay as it is, and a
 * condition must name it.
 */
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { dataPlaneNodes, dataPlaneRoles, dataPlanes } from '../../../src/dataplane/kinds/data-plane.ts'
import { novaExternalComputes } from '../../../src/dataplane/kinds/nova.ts'
import { type BareMetalHost, bareMetalHosts } from '../../../src/dataplane/machines/bare-metal.ts'
import { useCluster } from '../../cluster.ts'
import { CELL, dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../../data-plane.ts'
import { useCases } from './cases.ts'

const cluster = useCluster({ crds: 'own-2023' })
const METAL = 'metal'
const at = useCases(cluster, { machines: bareMetalHosts, machineNamespaces: [METAL] })
const { create, get, says, until, secret, secretText, cell, soon } = at
const secretKind = { apiVersion: 'v1', kind: 'Secret' }
const nodeTemplate = { ansibleSSHPrivateKeySecret: SSH_SECRET }
const deploying = { nodeTemplate, deployStrategy: { deploy: true } }
const sshKey = (): Promise<void> =>
  secret(SSH_SECRET, { 'ssh-privatekey': 'a key', authorized_keys: 'ssh-ed25519 AAAA me' })
const inTheWay = (kind: string, name: string): string => `${kind} ${at.namespace}/${name} exists already`

describe('Secrets of another owner', () => {
  it('under the name of the inventory of a node stay, and nothing runs', async () => {
    await secret('dataplanenode-n', { mine: 'x' })
    await sshKey()
    await create(dataPlaneRole('r', { ...deploying, services: ['install-os'] }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1', deployStrategy: { deploy: true } }))
    await says(dataPlaneNodes, 'n', 'SetupReady', inTheWay('Secret', 'dataplanenode-n'))
    expect(await secretText('dataplanenode-n', 'mine')).toBe('x')
    expect(await secretText('dataplanenode-n', 'inventory')).toBeUndefined()
  })

  it('under the name of the inventory of a role stay, and nothing runs', async () => {
    await secret('dataplanerole-r', { mine: 'x' })
    await sshKey()
    await create(dataPlaneRole('r', { ...deploying, services: ['install-os'] }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }))
    await says(dataPlaneRoles, 'r', 'SetupReady', inTheWay('Secret', 'dataplanerole-r'))
    expect(await secretText('dataplanerole-r', 'mine')).toBe('x')
    expect(at.ran()).toEqual([])
  })

  it('under the name of the configuration of a service stay, and the service is not deployed', async () => {
    await secret('n-config-data', { mine: 'x' })
    await sshKey()
    await cell('nova-cell1')
    await create(dataPlaneRole('r', { ...deploying, services: [] }, { [CELL]: 'nova-cell1' }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }))
    await says(novaExternalComputes, 'n', 'ServiceConfigReady', inTheWay('Secret', 'n-config-data'))
    expect(await secretText('n-config-data', 'mine')).toBe('x')
    expect(at.ran()).toEqual([])
  })

  it('that a deleted node of the same name left are replaced', async () => {
    const owner = { ...dataPlaneNodes, name: 'n', uid: 'of-a-deleted-node', controller: true }
    await create({ ...secretKind, metadata: { name: 'dataplanenode-n', ownerReferences: [owner] } } as KubeObject)
    await sshKey()
    await create(dataPlaneRole('r', { ...deploying, services: ['install-os'] }))
    const node = await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }))
    await until(dataPlaneNodes, 'n', 'Ready', 'True')
    const { metadata } = (await get(secretKind, 'dataplanenode-n')) ?? {}
    expect(metadata?.ownerReferences?.map(({ uid }) => uid)).toEqual([node.metadata.uid])
  })
})

describe('a role of another owner', () => {
  it('is not taken over by an OpenStackDataPlane', async () => {
    await create(dataPlaneRole('r', { nodeTemplate, services: ['run-os'] }))
    await create({ ...dataPlanes, metadata: { name: 'plane' }, spec: { roles: { r: { services: ['install-os'] } } } })
    await says(dataPlanes, 'plane', 'SetupReady', inTheWay('OpenStackDataPlaneRole', 'r'))
    const role = await get(dataPlaneRoles, 'r')
    expect(role?.['spec']).toMatchObject({ services: ['run-os'] })
    expect(role?.metadata.ownerReferences).toBeUndefined()
  })
})

describe('machines', () => {
  const machine = async (namespace: string, name: string, spec: object = { online: false }): Promise<BareMetalHost> => {
    const made = await cluster.client.create({ ...bareMetalHosts, metadata: { name, namespace }, spec })
    const status = {
      errorCount: 0,
      errorMessage: '',
      hardwareProfile: 'unknown',
      operationalStatus: 'OK',
      poweredOn: false,
      provisioning: { ID: '1', state: 'available', image: { url: '' } },
      hardware: { cpu: { arch: 'x86_64', count: 8 }, ramMebibytes: 65_536 },
    }
    return (await cluster.client.update({ ...made, status }, { subresource: 'status' })) as BareMetalHost
  }
  const template = (bmhNamespace: string) => ({
    bmhNamespace,
    ctlplaneInterface: 'eno1',
    deploymentSSHSecret: SSH_SECRET,
    osImage: 'http://images/edpm.qcow2',
  })
  const namespaceOf = (name: string): Promise<KubeObject> =>
    cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

  it('cannot make the operator delete a Secret that was not created for their node', async () => {
    const victim = { ...secretKind, namespace: 'default', name: `victim-${at.namespace}` }
    const { namespace, name } = victim
    await cluster.client.create({ ...secretKind, metadata: { namespace, name } })
    await sshKey()
    const consumerRef = { ...dataPlaneNodes, namespace: at.namespace, name: 'n' }
    const reference = { namespace, name }
    await machine(at.namespace, 'forged', { online: true, consumerRef, userData: reference, networkData: reference })
    await create(dataPlaneRole('r', { ...deploying, baremetalSetTemplate: template(at.namespace) }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }))
    await until(dataPlaneNodes, 'n', 'BaremetalProvisionReady', 'False')
    await cluster.client.delete({ ...dataPlaneNodes, namespace: at.namespace, name: 'n' })
    await expect.poll(() => get(dataPlaneNodes, 'n'), soon).toBeUndefined()
    expect(await cluster.client.get(victim)).toBeDefined()
  })

  it('of a namespace that the administrator has not allowed are not claimed', async () => {
    const other = `other-${at.namespace}`
    await namespaceOf(other)
    await machine(other, 'm')
    await sshKey()
    await create(dataPlaneRole('r', { ...deploying, baremetalSetTemplate: template(other) }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }))
    await says(dataPlaneNodes, 'n', 'SetupReady', `machines in namespace ${other}, which is not allowed`)
    const claimed = await cluster.client.get({ ...bareMetalHosts, namespace: other, name: 'm' })
    expect((claimed as BareMetalHost).spec.consumerRef).toBeUndefined()
  })

  it('of another namespace do not count, even if they name the node as their consumer', async () => {
    const other = `other-${at.namespace}`
    await namespaceOf(other)
    await sshKey()
    const consumerRef = { ...dataPlaneNodes, namespace: at.namespace, name: 'n' }
    await machine(other, 'forged', { online: true, consumerRef })
    await create(dataPlaneRole('r', { ...deploying, baremetalSetTemplate: template(at.namespace) }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }))
    await says(dataPlaneNodes, 'n', 'SetupReady', 'SL7111')
  })

  it('get the SSH key of their own node where two nodes have names that join to the same text', async () => {
    await namespaceOf(METAL)
    const [first, second] = [`${at.namespace}-x`, at.namespace]
    await namespaceOf(first)
    await machine(METAL, 'm1')
    await machine(METAL, 'm2')
    const keys = new Map([
      [first, { node: 'y', key: 'ssh-ed25519 FIRST' }],
      [second, { node: 'x-y', key: 'ssh-ed25519 SECOND' }],
    ])
    for (const [namespace, { node, key }] of keys) {
      const put = (object: KubeObject): Promise<KubeObject> =>
        cluster.client.create({ ...object, metadata: { ...object.metadata, namespace } })
      const stringData = { 'ssh-privatekey': 'a key', authorized_keys: key }
      await put({ ...secretKind, metadata: { name: SSH_SECRET }, stringData } as KubeObject)
      await put(dataPlaneRole('r', { ...deploying, baremetalSetTemplate: template(METAL) }))
      await put(dataPlaneNode(node, { role: 'r', ansibleHost: '192.168.122.1' }))
    }
    const bootKeys = async (): Promise<Record<string, string>> => {
      const { items } = await cluster.client.list(bareMetalHosts, { namespace: METAL })
      const found: Record<string, string> = {}
      for (const { spec } of items as unknown as readonly BareMetalHost[]) {
        const { namespace = '', name: node } = spec.consumerRef ?? {}
        const boot = spec.userData && (await cluster.client.get({ ...secretKind, ...spec.userData }))
        const text = Buffer.from((boot?.['data'] as Record<string, string>)?.['userData'] ?? '', 'base64').toString()
        found[`${namespace}/${node}`] = /ssh-ed25519 \w+/.exec(text)?.[0] ?? ''
      }
      return found
    }
    await expect.poll(bootKeys, soon).toEqual({
      [`${first}/y`]: 'ssh-ed25519 FIRST',
      [`${second}/x-y`]: 'ssh-ed25519 SECOND',
    })
    for (const [namespace, { node }] of keys) {
      await cluster.client.delete({ ...dataPlaneNodes, namespace, name: node })
    }
    const left = async (): Promise<number> => (await cluster.client.list(secretKind, { namespace: METAL })).items.length
    await expect.poll(left, soon).toBe(0)
  })
})
