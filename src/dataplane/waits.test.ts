/** Tests what nodes and services report while they wait, and what reconciles them, over a cluster in memory. */
import { afterEach, describe, expect, it } from 'vitest'
import { CELL, dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../../test/data-plane.ts'
import { memoryCluster } from '../../test/memory-cluster.ts'
import { type ControllerOptions, startControllers } from '../../test/real/dataplane/controllers.ts'
import { type Play, recordingExecutor } from '../../test/real/dataplane/recording-executor.ts'
import { weatherService } from '../../test/weather-service.ts'
import type { Condition, KubeObject } from '../api/object.ts'
import { type DataPlaneRoleSpec, dataPlaneServices } from './kinds/data-plane.ts'
import { novaCells } from './kinds/nova.ts'
import type { ServiceObject } from './kinds/service-object.ts'
import { nodeServices } from './service-definitions/all.ts'

const namespace = 'openstack'
const secret = (name: string, data: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, btoa(text)])),
})
const deploying: DataPlaneRoleSpec = {
  nodeTemplate: { ansibleSSHPrivateKeySecret: SSH_SECRET },
  deployStrategy: { deploy: true },
  services: [],
}

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Starts the controllers and an executor over a cluster with a key and a role. */
async function start(
  role: DataPlaneRoleSpec,
  { play, ...options }: Pick<ControllerOptions, 'services' | 'unserved'> & { readonly play?: Play } = {},
) {
  const { client, objects } = memoryCluster()
  await client.create(secret(SSH_SECRET, { 'ssh-privatekey': 'a key' }))
  await client.create(dataPlaneRole('compute', role))
  const executor = recordingExecutor(client, play)
  const controllers = startControllers(client, { services: [...nodeServices, weatherService], ...options })
  ends.push(controllers.stop, executor.stop)
  const find = (kind: string, name: string): KubeObject | undefined =>
    objects(kind).find(({ metadata }) => metadata.name === name)
  const message = (kind: string, name: string, type: string): string | undefined => {
    const status = find(kind, name)?.['status'] as { conditions?: readonly Condition[] } | undefined
    return status?.conditions?.find((condition) => condition.type === type)?.message
  }
  return { client, executor, find, message, idle: controllers.idle }
}
const soon = { timeout: 10_000, interval: 10 }

describe('a service', () => {
  it('is reconciled when the Secret that it waits for appears, and keeps its spec when images are set', async () => {
    const { client, find, message } = await start(deploying)
    const { key } = weatherService.annotation
    await client.create(dataPlaneNode('n', { role: 'compute' }, { [key]: 'hill-config-data' }))
    await expect
      .poll(() => message('WeatherAgent', 'n', 'StationReady'), soon)
      .toBe('Waiting for Secret hill-config-data')
    await client.create(secret('hill-config-data', { url: 'http://hill' }))
    await expect.poll(() => message('WeatherAgent', 'n', 'Ready'), soon).toBe('WeatherAgent ready')
    expect((find('WeatherAgent', 'n') as ServiceObject).spec).toMatchObject({
      dataplaneNodeName: 'n',
      station: 'hill-config-data',
      ansibleEEContainerImage: 'runner',
    })
  })

  it('that the cluster does not serve is reported', async () => {
    const { client, message } = await start(deploying, {
      services: nodeServices,
      unserved: [weatherService],
    })
    const { key } = weatherService.annotation
    await client.create(dataPlaneNode('n', { role: 'compute' }, { [key]: 'hill' }))
    await expect
      .poll(() => message('OpenStackDataPlaneNode', 'n', 'ServicesReady'), soon)
      .toBe('WeatherAgent is requested, but this cluster does not serve it')
  })

  it('names the field of its dependency that has no Secret yet, and waits', async () => {
    const { client, find, message } = await start(deploying)
    const cellStatus = { conditions: [{ type: 'Ready', status: 'True' }] }
    await client.create({ ...novaCells, metadata: { name: 'nova-cell1', namespace }, spec: {}, status: cellStatus })
    await client.create(dataPlaneNode('n', { role: 'compute' }, { [CELL]: 'nova-cell1' }))
    await expect
      .poll(() => message('NovaExternalCompute', 'n', 'InputReady'), soon)
      .toBe('Waiting for a Secret to be named in cellMessageBusSecretName of NovaCell nova-cell1')
    const { status } = find('NovaExternalCompute', 'n') as ServiceObject
    expect(status?.conditions?.filter(({ severity }) => severity === 'Error')).toEqual([])
  })
})

describe('steps with the same name', () => {
  it('are distinguished by their owner: a step of phase 0 and one of a service', async () => {
    const { client, executor, message, idle } = await start({ ...deploying, services: ['weather'] })
    await client.create({
      ...dataPlaneServices,
      metadata: { name: 'weather', namespace },
      spec: { play: '- hosts: all\n' },
    })
    await client.create(secret('hill', { url: 'http://hill' }))
    const { key } = weatherService.annotation
    await client.create(dataPlaneNode('n', { role: 'compute' }, { [key]: 'hill' }))
    await expect.poll(() => message('WeatherAgent', 'n', 'Ready'), soon).toBe('WeatherAgent ready')
    let quiet = 0
    await expect.poll(() => (quiet = idle() ? quiet + 1 : 0), soon).toBeGreaterThan(40)
    expect(executor.recorded.map(({ step }) => step)).toEqual(['weather', 'weather'])
  })
})

describe('a node', () => {
  const services = ['configure-network']

  it('names the run of its role that it waits for', async () => {
    const { client, executor, message } = await start({ ...deploying, services }, { play: () => undefined })
    await client.create(dataPlaneNode('first', { role: 'compute' }))
    await expect.poll(() => executor.recorded.length, soon).toBe(1)
    await client.create(dataPlaneNode('later', { role: 'compute' }))
    const run = executor.recorded[0]?.run
    await expect
      .poll(() => message('OpenStackDataPlaneNode', 'later', 'DeploymentReady'), soon)
      .toBe(`Waiting for run ${run} of its role, which does not include this node`)
    await expect
      .poll(() => message('OpenStackDataPlaneNode', 'first', 'DeploymentReady'), soon)
      .toBe('Deployment in progress')
  })

  it.each([
    ['outside of the limit', { deploy: true, ansibleLimit: 'other' }, 'it is outside of ansibleLimit other'],
    [
      'outside of a limit that an expression would try for years',
      { deploy: true, ansibleLimit: `${'*n'.repeat(40)}*b` },
      `it is outside of ansibleLimit ${'*n'.repeat(40)}*b`,
    ],
    ['with deploy false', { deploy: false }, 'deploy is false'],
    ['without a deployStrategy', undefined, 'neither the node nor its role has a deployStrategy'],
  ])('%s reports why nothing runs', async (_, strategy, why) => {
    const { deployStrategy: __, ...role } = deploying
    const { client, message } = await start({
      ...role,
      services,
      ...(strategy && { deployStrategy: strategy }),
    })
    await client.create(dataPlaneNode('n', { role: 'compute' }))
    await expect
      .poll(() => message('OpenStackDataPlaneNode', 'n', 'DeploymentReady'), soon)
      .toBe(`Deployment not started: ${why}`)
  })
})
