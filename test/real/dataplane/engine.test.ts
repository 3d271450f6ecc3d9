/**
 * Document 003 on a real API server: annotations become service objects, phases follow each other, configuration is what
 * it should be, and nothing runs twice. Ansible itself is played here; it runs for real in the runs' own tests.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DataPlaneNode, dataPlaneNodes } from '../../../src/api/dataplane-node.ts'
import { novaCells } from '../../../src/api/nova-cell.ts'
import { type NovaExternalCompute, novaExternalComputes } from '../../../src/api/nova-external-compute.ts'
import type { Condition, GroupVersionKind, KubeObject } from '../../../src/api/object.ts'
import { useCluster } from '../../cluster.ts'
import { CELL, dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../../data-plane.ts'
import { type RunningControllers, startControllers } from './controllers.ts'
import { type Play, type RecordingExecutor, recordingExecutor } from './recording-executor.ts'

const cluster = useCluster({ crds: 'own-2023' })
const soon = { timeout: 30_000, interval: 50 }
let controllers: RunningControllers
let executor: RecordingExecutor
let play: Play = () => ({})
let count = 0
let namespace = ''

beforeAll(() => {
  controllers = startControllers(cluster.client)
  executor = recordingExecutor(cluster.client, (run) => play(run))
})
afterAll(async () => {
  await controllers?.stop()
  await executor?.stop()
  expect(executor.overlaps).toEqual([])
})
beforeEach(async () => {
  count += 1
  namespace = `case-${count}`
  play = () => ({})
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
})

const here = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, namespace },
})
const create = (object: KubeObject): Promise<KubeObject> =>
  cluster.client.create(here(object), { fieldManager: 'person' })
const get = (kind: GroupVersionKind, name: string): Promise<KubeObject | undefined> =>
  cluster.client.get({ ...kind, namespace, name })
const conditionOf = async (
  kind: GroupVersionKind,
  name: string,
  type = 'Ready',
): Promise<Condition | undefined> =>
  ((await get(kind, name)) as DataPlaneNode | undefined)?.status?.conditions?.find((one) => one.type === type)
const until = (kind: GroupVersionKind, name: string, type: string, status: string): Promise<void> =>
  expect.poll(async () => (await conditionOf(kind, name, type))?.status, soon).toBe(status)
const says = (kind: GroupVersionKind, name: string, type: string, words: string): Promise<void> =>
  expect.poll(async () => (await conditionOf(kind, name, type))?.message, soon).toContain(words)
const compute = async (name: string): Promise<NovaExternalCompute | undefined> =>
  (await get(novaExternalComputes, name)) as NovaExternalCompute | undefined
const secretText = async (name: string, key: string): Promise<string | undefined> => {
  const data = (await get({ apiVersion: 'v1', kind: 'Secret' }, name))?.['data'] as
    | Record<string, string>
    | undefined
  return data?.[key] === undefined ? undefined : Buffer.from(data[key], 'base64').toString('utf8')
}
const ran = (): readonly string[] =>
  executor.recorded
    .filter((one) => one.namespace === namespace)
    .map(({ step, hosts }) => `${step} ${hosts.join('+')}`)

async function secret(name: string, data: Readonly<Record<string, string>>): Promise<void> {
  await create({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: data } as KubeObject)
}

async function cell(name: string, { ready = true } = {}): Promise<void> {
  await secret(`${name}-bus`, { transport_url: `rabbit://user:pa$$@${name}.example:5672/?ssl=0` })
  await secret(`${name}-secret`, { ServicePassword: `password-of-${name}` })
  const made = await create({
    ...novaCells,
    metadata: { name },
    spec: {
      cellName: name.slice(name.lastIndexOf('-') + 1),
      cellDatabaseHostname: 'db',
      cellMessageBusSecretName: `${name}-bus`,
      conductorServiceTemplate: {},
      noVNCProxyServiceTemplate: {},
      keystoneAuthURL: 'http://keystone:5000',
      secret: `${name}-secret`,
      serviceAccount: 'nova',
    },
  })
  if (ready) await cellReady(made)
}

async function cellReady(made: KubeObject): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]
  await cluster.client.update({ ...made, status: { conditions } }, { subresource: 'status' })
}

/** The role and the two nodes of the document, which deploy. */
async function documentExample(services: readonly string[] = ['install-os']): Promise<void> {
  await secret(SSH_SECRET, { 'ssh-privatekey': 'a key' })
  await create(
    dataPlaneRole(
      'edpm-compute',
      {
        dataPlane: 'openstack-edpm',
        nodeTemplate: { ansiblePort: 22 },
        deployStrategy: { deploy: true },
        services: [...services],
      },
      { [CELL]: 'nova-cell1' },
    ),
  )
  const spec = (index: number): object => ({
    ansibleHost: `192.168.122.10${index}`,
    hostName: `edpm-compute-${index}`,
    node: { ansibleSSHPrivateKeySecret: SSH_SECRET },
    role: 'edpm-compute',
  })
  await create(dataPlaneNode('edpm-compute-0', spec(0)))
  await create(dataPlaneNode('edpm-compute-1', spec(1), { [CELL]: 'nova-cell2' }))
}

describe("document 003's example", () => {
  it('puts each node in its cell, with the transport URL of that cell, after phase 0, libvirt before nova', async () => {
    await cell('nova-cell1')
    await cell('nova-cell2')
    await documentExample()
    for (const name of ['edpm-compute-0', 'edpm-compute-1']) {
      await until(novaExternalComputes, name, 'Ready', 'True')
      await until(dataPlaneNodes, name, 'ServicesReady', 'True')
    }
    expect((await compute('edpm-compute-0'))?.spec).toMatchObject({
      dataplaneNodeName: 'edpm-compute-0',
      cellName: 'nova-cell1',
      sshKeySecretName: SSH_SECRET,
      inventoryConfigMapName: 'dataplanenode-edpm-compute-0',
      deploy: true,
    })
    expect((await compute('edpm-compute-0'))?.spec).not.toHaveProperty('customServiceConfig')
    expect((await compute('edpm-compute-1'))?.spec.cellName).toBe('nova-cell2')
    for (const [node, of] of [
      ['edpm-compute-0', 'nova-cell1'],
      ['edpm-compute-1', 'nova-cell2'],
    ] as const) {
      const conf = await secretText(`${node}-config-data`, '01-nova.conf')
      // A dollar sign is written twice: oslo.config reads it as one.
      expect(conf).toContain(`transport_url = rabbit://user:pa$$$$@${of}.example:5672/?ssl=0\n`)
      expect(conf).toContain(`password = password-of-${of}\n`)
      expect(await secretText(`${node}-config-data`, '02-nova-override.conf')).toBe('')
      const mine = ran().filter((one) => one.includes(node))
      expect(mine.slice(-2)).toEqual([`libvirt ${node}`, `nova ${node}`])
      expect(mine[0]).toContain('install-os')
      expect(controllers.controlPlane.discovered).toContain(`${node} in ${of}`)
    }
  })

  it('waits for a NovaCell that is not there, by watch, and has made nothing and run nothing by then', async () => {
    await documentExample()
    await says(novaExternalComputes, 'edpm-compute-0', 'NovaCellReady', 'Waiting for NovaCell nova-cell1')
    await until(dataPlaneNodes, 'edpm-compute-0', 'Ready', 'True')
    expect(await secretText('edpm-compute-0-config-data', '01-nova.conf')).toBeUndefined()
    expect(ran().filter((one) => !one.startsWith('install-os'))).toEqual([])
    await cell('nova-cell1', { ready: false })
    await says(novaExternalComputes, 'edpm-compute-0', 'NovaCellReady', 'to become Ready')
    const made = await get(novaCells, 'nova-cell1')
    if (made) await cellReady(made)
    await until(novaExternalComputes, 'edpm-compute-0', 'Ready', 'True')
  })

  it('keeps a cell1 of each of two Novas apart', async () => {
    await cell('nova-cell1')
    await cell('other-cell1')
    await secret(SSH_SECRET, { 'ssh-privatekey': 'a key' })
    const node = { ansibleSSHPrivateKeySecret: SSH_SECRET }
    await create(dataPlaneRole('r', { nodeTemplate: node, deployStrategy: { deploy: true }, services: [] }))
    await create(dataPlaneNode('a', { role: 'r', ansibleHost: '192.168.122.1' }, { [CELL]: 'nova-cell1' }))
    await create(dataPlaneNode('b', { role: 'r', ansibleHost: '192.168.122.2' }, { [CELL]: 'other-cell1' }))
    await until(novaExternalComputes, 'a', 'Ready', 'True')
    await until(novaExternalComputes, 'b', 'Ready', 'True')
    expect(await secretText('a-config-data', '01-nova.conf')).toContain('@nova-cell1.example')
    expect(await secretText('b-config-data', '01-nova.conf')).toContain('@other-cell1.example')
  })
})
