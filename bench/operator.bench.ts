/**
 * Measures how long one object of a tenant occupies the operator's event loop: per kind, the largest objects that etcd
 * stores, created, changed, scraped and deleted, with the webhooks registered and without them.
 *
 * The CRDs are ours; where upstream's are installed instead, an object has no limit but its size.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { ipSets } from '../src/api/ipset.ts'
import type { KubeObject } from '../src/api/object.ts'
import { systemClock } from '../src/clock/clock.ts'
import { dataPlaneNodes } from '../src/dataplane/kinds/data-plane.ts'
import { Failure } from '../src/errors/failure.ts'
import type { KubeClient, ObjectRef } from '../src/kube/client.ts'
import { type Cluster, startCluster } from '../test/cluster.ts'
import { TENANT } from '../test/large-values.ts'
import { largestKinds, largestObjects, neighbours } from '../test/largest-objects.ts'
import { freePorts } from '../test/real/ipam/operator.ts'
import { canMeasureEventLoop, type EventLoopMeter, eventLoopMeter, measureEventLoopArgs } from '../tools/event-loop.ts'
import type { Figure, Measured } from '../tools/figure.ts'
import { once } from '../tools/measure.ts'

interface Operator extends EventLoopMeter {
  readonly healthPort: number
  readonly kill: () => void
}

async function runOperator(cluster: Cluster, hasWebhooks: boolean): Promise<Operator> {
  const [webhookPort = 0, healthPort = 0] = await freePorts(2)
  const flags = [
    ['--kubeconfig', cluster.kubeconfig],
    ['--webhook-port', String(webhookPort)],
    ['--health-port', String(healthPort)],
    ['--bind', '127.0.0.1'],
    ['--no-leader-election'],
    hasWebhooks ? ['--webhook-url', `https://127.0.0.1:${webhookPort}`] : [],
  ].flat()
  const child: ChildProcess = spawn(
    process.execPath,
    [...measureEventLoopArgs, 'bin/stackloom', 'operator', 'run', ...flags],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
  )
  await new Promise<void>((resolve, reject) => {
    let log = ''
    child.once('exit', () => reject(new Error(`the operator ended: ${log}`)))
    child.stderr?.on('data', (piece: Buffer) => {
      log += String(piece)
      if (log.includes(hasWebhooks ? 'webhooks are served' : 'health is served')) resolve()
    })
  })
  return { healthPort, ...eventLoopMeter(child), kill: () => void child.kill('SIGKILL') }
}

const longestTurns = once(async (kinds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
  const longest = new Map<string, number>()
  for (const hasWebhooks of [true, false]) {
    // With garbage collection: a run is deleted after its Job, which is deleted after its pods.
    const { cluster, stop } = await startCluster({ crds: 'own-2023', netns: false, controllerManager: true })
    const operator = await runOperator(cluster, hasWebhooks)
    try {
      await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: TENANT } })
      for (const { shape, object } of largestObjects.filter(({ object: { kind } }) => kinds.includes(kind))) {
        const { ms, refusal } = await measureObject(cluster.client, operator, object)
        const mode = hasWebhooks ? 'webhooks' : 'no webhooks'
        const outcome = refusal === undefined ? '' : `, refused: ${refusal.slice(0, 80)}`
        console.error(`# ${object.kind}, ${shape}, ${mode}: ${Math.round(ms)} ms${outcome}`)
        longest.set(object.kind, Math.max(longest.get(object.kind) ?? 0, ms))
      }
    } finally {
      operator.kill()
      await stop()
    }
  }
  return longest
})

async function measureObject(
  client: KubeClient,
  operator: Operator,
  object: KubeObject,
): Promise<{ readonly ms: number; readonly refusal?: string }> {
  const beside = neighbours(object)
  for (const neighbour of beside) await client.create(neighbour)
  await operator.end()
  await operator.begin()
  let refusal: string | undefined
  try {
    await client.create(object)
    await operator.end()
    await client.patch(refTo(object), { metadata: { labels: { changed: 'true' } } }, { type: 'merge' })
    await (await fetch(`http://127.0.0.1:${operator.healthPort}/metrics`)).text()
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    refusal = thrown.message
  }
  await operator.end()
  await remove(client, object)
  const { longestMs: ms } = await operator.end()
  // Nodes and addresses first: a NetConfig with IPSets cannot be deleted.
  await removeDerived(client)
  for (const neighbour of beside) await remove(client, neighbour)
  return { ms, ...(refusal !== undefined && { refusal }) }
}

function refTo({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): ObjectRef {
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
}

async function remove(client: KubeClient, object: KubeObject): Promise<void> {
  await client.delete(refTo(object))
  while (await client.get(refTo(object))) await systemClock.sleep(50)
}

/** Also those that the operator created for the object: garbage collection may be slower. */
async function removeDerived(client: KubeClient): Promise<void> {
  for (const kind of [dataPlaneNodes, ipSets]) {
    for (const { metadata } of (await client.list(kind, { namespace: TENANT })).items) {
      await remove(client, { ...kind, metadata })
    }
  }
}

const figureName = (kind: string): string => `operator.largest-object.${kind.toLowerCase()}`

export const figures: readonly Figure[] = largestKinds.map((kind) => ({
  name: figureName(kind),
  unit: 'ms',
  target: { op: '<=', value: 200 },
  measure: async (selected): Promise<Measured> => {
    if (!canMeasureEventLoop()) return { unavailable: 'the kernel does not count the time of a thread' }
    const kinds = largestKinds.filter((other) => selected.includes(figureName(other)))
    return (await longestTurns(kinds)).get(kind) ?? Number.NaN
  },
}))
