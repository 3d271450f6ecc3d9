/**
 * Measures the data plane controllers with an executor that does nothing: from creation to Ready, compared with the bare
 * writes that every controller needs (four per node: the node, its inventory, a run, its status).
 */

import type { KubeObject } from '../src/api/object.ts'
import { ansibleRuns } from '../src/dataplane/kinds/ansible-run.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../src/dataplane/kinds/data-plane.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { type Cluster, startCluster } from '../test/cluster.ts'
import { dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../test/data-plane.ts'
import { type RunningControllers, startControllers } from '../test/real/dataplane/controllers.ts'
import { recordingExecutor } from '../test/real/dataplane/recording-executor.ts'
import type { Figure } from '../tools/figure.ts'
import { once } from '../tools/measure.ts'

const FEW = 100
const MANY = 1_000
const AT_ONCE = 64

interface Findings {
  /** Milliseconds per node. */
  readonly few: number
  readonly many: number
  readonly bare: number
  readonly memory: number
  readonly restartWrites: number
  readonly restartRuns: number
}

const measured = once(async (): Promise<Findings> => {
  const { cluster, stop } = await startCluster({ crds: 'own-2023' })
  try {
    await deployed(cluster, 'warm', 20)
    const bare = await bareWrites(cluster, 'bare', MANY / 2)
    const few = await deployed(cluster, 'few', FEW)
    const many = await deployed(cluster, 'many', MANY)
    const again = await bareWrites(cluster, 'bare-again', MANY / 2)
    const memory = process.memoryUsage().rss / 2 ** 20
    return { few, many, bare: (bare + again) / 2, memory, ...(await restarted(cluster)) }
  } finally {
    await stop()
  }
})

const of = (name: string, unit: string, pick: (found: Findings) => number, most?: number): Figure => ({
  name: `dataplane.${name}`,
  unit,
  ...(most !== undefined && { target: { op: '<=', value: most } }),
  measure: async () => pick(await measured()),
})

export const figures: readonly Figure[] = [
  of('node', 'ms', ({ many }) => many),
  of('growth', 'x', ({ few, many }) => many / few, 1.3),
  of('bare-writes', 'x', ({ many, bare }) => many / bare, 3),
  of('memory', 'MiB', ({ memory }) => memory),
  of('restart-writes', 'writes', ({ restartWrites }) => restartWrites, 0),
  of('restart-runs', 'runs', ({ restartRuns }) => restartRuns, 0),
]

async function eachOf(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

async function prepared({ client }: Cluster, namespace: string): Promise<void> {
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const data = { 'ssh-privatekey': Buffer.from('a key').toString('base64') }
  await client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: SSH_SECRET, namespace }, data })
}

const node = (index: number, namespace: string): DataPlaneNode => {
  const ansibleHost = `192.168.${index >> 8}.${index & 255}`
  const ansibleVars = `ctlplane_ip: ${ansibleHost}\n`
  return dataPlaneNode(`node-${index}`, { role: 'compute', ansibleHost, node: { ansibleVars } }, {}, namespace)
}

/** Milliseconds per node, from the first create to the last Ready. */
async function deployed(cluster: Cluster, namespace: string, count: number): Promise<number> {
  const { client } = cluster
  await prepared(cluster, namespace)
  const controllers = startControllers(client, { pace: 'product' })
  const executor = recordingExecutor(client)
  const nodeTemplate = { ansibleSSHPrivateKeySecret: SSH_SECRET, ansibleUser: 'root' }
  await client.create(dataPlaneRole('compute', { nodeTemplate, deployStrategy: { deploy: true } }, {}, namespace))
  const isReady = ({ status }: DataPlaneNode): boolean =>
    status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
  const began = performance.now()
  await eachOf(count, async (index) => void (await client.create(node(index, namespace))))
  while (controllers.caches.nodes.list(namespace).filter(isReady).length < count) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const took = performance.now() - began
  await settled(controllers)
  await controllers.stop()
  await executor.stop()
  return took / count
}

/** Only the writes that every controller needs. */
async function bareWrites(cluster: Cluster, namespace: string, count: number): Promise<number> {
  const { client } = cluster
  await prepared(cluster, namespace)
  const began = performance.now()
  await eachOf(count, async (index) => {
    const made = await client.create(node(index, namespace))
    const { name } = made.metadata
    const inventory = Buffer.from('x'.repeat(300)).toString('base64')
    await client.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace },
      data: { inventory },
    })
    // A run that has ended, so that no executor starts it.
    await client.create({ ...ansibleRuns, metadata: { name, namespace }, spec: { play: '- hosts: all\n' } })
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]
    await client.update({ ...made, status: { conditions } }, { subresource: 'status' })
  })
  const took = performance.now() - began
  await Promise.all((await client.list(ansibleRuns, { namespace })).items.map((run) => remove(client, run)))
  await Promise.all((await client.list(dataPlaneNodes, { namespace })).items.map((item) => remove(client, item)))
  return took / count
}

function remove(client: KubeClient, { apiVersion, kind, metadata }: KubeObject): Promise<boolean> {
  const { name, namespace = '' } = metadata
  return client.delete({ apiVersion, kind, name, namespace })
}

/** Waits until every controller has emptied its queue and stays idle. */
async function settled({ idle }: RunningControllers): Promise<void> {
  for (let quiet = 0; quiet < 10; ) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    quiet = idle() ? quiet + 1 : 0
  }
}

/** Starts an operator with everything deployed: it reconciles every node and writes nothing. */
async function restarted({ client }: Cluster): Promise<{ restartWrites: number; restartRuns: number }> {
  let writes = 0
  let runs = 0
  const counting: KubeClient = {
    ...client,
    create: (object, options) => {
      writes += 1
      if (object.kind === ansibleRuns.kind) runs += 1
      return client.create(object, options)
    },
    update: (object, options) => count(client.update(object, options)),
    apply: (object, options) => count(client.apply(object, options)),
    patch: (ref, patch, options) => count(client.patch(ref, patch, options)),
    delete: (ref, options) => count(client.delete(ref, options)),
  }
  const count = <T>(answer: T): T => {
    writes += 1
    return answer
  }
  const controllers = startControllers(counting, { pace: 'product' })
  while (!controllers.runtime.ready().every(({ problem }) => problem === undefined)) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await settled(controllers)
  await controllers.stop()
  return { restartWrites: writes, restartRuns: runs }
}
