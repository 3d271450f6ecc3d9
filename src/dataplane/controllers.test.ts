import { describe, expect, it } from 'vitest'
import { dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../../test/data-plane.ts'
import { memoryCluster } from '../../test/memory-cluster.ts'
import { startControllers } from '../../test/real/dataplane/controllers.ts'
import { recordingExecutor } from '../../test/real/dataplane/recording-executor.ts'
import { type DataPlaneNode, dataPlanes } from './kinds/data-plane.ts'

const NODES = 5
const key = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: SSH_SECRET, namespace: 'openstack' },
  data: { 'ssh-privatekey': 'YQ==' },
}
const role = dataPlaneRole('compute', {
  nodeTemplate: { ansibleSSHPrivateKeySecret: SSH_SECRET },
  deployStrategy: { deploy: true },
  services: ['configure-network', 'run-os'],
})
const isReady = ({ status }: DataPlaneNode): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

async function until(what: string, isTrue: () => boolean): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    if (isTrue()) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`never happened: ${what}`)
}

describe('the data plane controllers', () => {
  it('write nothing when they are restarted and all nodes are deployed', async () => {
    const { client, requests, objects } = memoryCluster()
    await client.create(key)
    await client.create(role)
    for (let index = 0; index < NODES; index += 1) {
      await client.create(dataPlaneNode(`n${index}`, { role: 'compute', ansibleHost: `192.168.122.${index}` }))
    }
    const executor = recordingExecutor(client)
    const first = startControllers(client)
    const ready = (): boolean =>
      (objects('OpenStackDataPlaneNode') as readonly DataPlaneNode[]).filter(isReady).length === NODES
    await until('all are ready', ready)
    let quiet = 0
    await until('it is quiet', () => (quiet = first.idle() ? quiet + 1 : 0) > 40)
    await first.stop()
    const before = requests.length
    // Secrets are read last: a Secret that is not read yet must not look absent.
    const list: typeof client.list = async (kind, options) => {
      if (kind.kind === 'Secret') await new Promise((resolve) => setTimeout(resolve, 200))
      return client.list(kind, options)
    }
    const second = startControllers({ ...client, list })
    await until('it has read all', () => second.runtime.ready().every(({ problem }) => problem === undefined))
    quiet = 0
    await until('it is quiet again', () => (quiet = second.idle() ? quiet + 1 : 0) > 40)
    await second.stop()
    await executor.stop()
    const writes = requests.slice(before).filter((request) => !/^(list|watch|get) /.test(request))
    expect(writes).toEqual([])
    expect(second.errors).toEqual([])
  })

  it('apply the nodes of a small data plane before all of a large one', async () => {
    const { client, objects } = memoryCluster()
    const plane = (namespace: string, count: number) => ({
      ...dataPlanes,
      metadata: { name: 'plane', namespace },
      spec: {
        roles: { '../not a name': {} },
        nodes: Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, {}])),
      },
    })
    await client.create(plane('large', 1_000))
    await client.create(plane('small', 1))
    const running = startControllers(client)
    const nodes = (namespace: string): number =>
      objects('OpenStackDataPlaneNode').filter(({ metadata }) => metadata.namespace === namespace).length
    await until('the small one is applied', () => nodes('small') === 1)
    expect(nodes('large')).toBeLessThan(1_000)
    await until('the large one is applied', () => nodes('large') === 1_000)
    const reports = (): string => JSON.stringify(objects('OpenStackDataPlane').map((object) => object['status'] ?? ''))
    await until('the wrong name is reported', () => reports().split('cannot be the name of an object').length > 2)
    await running.stop()
  })
})
