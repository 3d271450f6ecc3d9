/**
 * Measures deploying: our apply against kubectl's of the same tree, a run without changes against the first, the delay
 * until a run sees that it is done, and the memory for fifty clouds.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { KubeObject } from '../src/api/object.ts'
import { systemClock } from '../src/clock/clock.ts'
import { applyChanges, createLimiter, runParallel } from '../src/deploy/apply.ts'
import { openLiveView } from '../src/deploy/live-view.ts'
import { compareObjects, distinctKinds } from '../src/deploy/object-changes.ts'
import { up } from '../src/deploy/up.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { type Connection, connect } from '../src/kube/connect.ts'
import type { Plan } from '../src/plan/plan.ts'
import { renderDocuments } from '../src/render/render.ts'
import type { StageContext } from '../src/run/stage.ts'
import { ensurePrograms } from '../src/sandbox/build/ensure-programs.ts'
import { startCluster } from '../test/cluster.ts'
import { neverAborted } from '../test/never-aborted.ts'
import { sandboxPlan } from '../test/plan.ts'
import { nodeNames, prepareCluster, startActors } from '../test/real/deploy/deployment-fixture.ts'
import { sandboxContext } from '../test/sandbox-context.ts'
import type { Figure } from '../tools/figure.ts'
import { median, once, runNode, runProgram } from '../tools/measure.ts'
import { formatCpu, measureCpu } from './cpu-time.ts'

const CLOUDS = 20
const NODES = 3
/** Writes of a run. */
const AT_ONCE = 8

/** New clouds for each round, so that every apply creates objects. Their addresses may overlap. */
function cloudsOf(round: number, many: number): readonly KubeObject[] {
  const clouds = Array.from({ length: many }, (_, index) => ({
    name: `r${round}c${index}`,
    namespace: `r${round}c${index}`,
  }))
  return renderDocuments(sandboxPlan({ clouds, nodes: NODES }))
    .filter(({ cloud }) => cloud !== undefined)
    .map(({ object }) => object)
}

const context: StageContext = { emit: () => undefined, stop: neverAborted(), clock: systemClock }

/** Does what `up` does with the objects of a stage, for all objects at once: list, compare, apply. */
async function applyAll(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  const view = openLiveView(client)
  try {
    await view.watch(distinctKinds(objects), context)
    const changes = compareObjects(objects, view.index())
    await applyChanges(changes, { client, force: false, limiter: createLimiter(AT_ONCE) }, context)
  } finally {
    await view.close()
  }
}

/** Sends the same requests and nothing else, as many at the same time. */
async function applyBare(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  const isNamespace = ({ kind }: KubeObject): boolean => kind === 'Namespace'
  for (const part of [objects.filter(isNamespace), objects.filter((object) => !isNamespace(object))]) {
    await runParallel(part, AT_ONCE, async (object) => {
      await client.apply(object, { fieldManager: 'stackloom' })
    })
  }
}

interface ApplyFigures {
  readonly againstKubectl: number
  /** The same requests by a bare client. */
  readonly floor: number
  /** Fifty clouds to five. */
  readonly growth: number
}

const applied = once(async (): Promise<ApplyFigures> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  const { kubectl } = await ensurePrograms(['kubectl'], sandboxContext())
  const { cluster, stop } = await startCluster({ crds: 'today' })
  const connection = await connect({ kubeconfig: cluster.kubeconfig, env: {} })
  let next = 0
  const take = (many: number): readonly KubeObject[] => {
    next += 1
    return cloudsOf(next, many)
  }
  try {
    const time = async (work: () => Promise<unknown>): Promise<number> => {
      const began = performance.now()
      await work()
      return performance.now() - began
    }
    const ours = (): Promise<number> => {
      const objects = take(CLOUDS)
      return time(() => applyAll(connection.client, objects))
    }
    const theirs = (): Promise<number> => {
      const file = path.join(folder, `tree-${next}.yaml`)
      // As documents, not as a List: then kubectl leaves the validation to the server, as we do.
      writeFileSync(
        file,
        `# tree\n${take(CLOUDS)
          .map((object) => JSON.stringify(object))
          .join('\n---\n')}\n`,
      )
      return time(() => runProgram(kubectl, ['--kubeconfig', cluster.kubeconfig, 'apply', '--server-side', '-f', file]))
    }
    const times = { ours: [] as number[], theirs: [] as number[], bare: [] as number[] }
    for (let round = 0; round < 3; round += 1) {
      const readCpu = measureCpu({ 'API server and etcd': cluster.pid })
      times.ours.push(await ours())
      console.error(`# CPU time of our apply of ${CLOUDS} clouds: ${formatCpu(readCpu())}`)
      times.theirs.push(await theirs())
      const objects = take(CLOUDS)
      times.bare.push(await time(() => applyBare(connection.client, objects)))
    }
    const kubectlMs = median(times.theirs)
    const five: number[] = []
    for (let round = 0; round < 3; round += 1) five.push(await time(async () => applyAll(connection.client, take(5))))
    const fifty = await time(async () => applyAll(connection.client, take(50)))
    const [againstKubectl, floor] = [median(times.ours) / kubectlMs, median(times.bare) / kubectlMs]
    return { againstKubectl, floor, growth: fifty / median(five) }
  } finally {
    await connection.close()
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

interface RunFigures {
  readonly again: number
  readonly lagMs: number
}

function sitePlan(many: number): Plan {
  const clouds = Array.from({ length: many }, (_, index) => ({ name: `c${index}`, namespace: `c${index}` }))
  return sandboxPlan({ clouds, nodes: NODES })
}

const ran = once(async (): Promise<RunFigures> => {
  const { cluster, stop } = await startCluster({ crds: 'today', metallb: true, controllerManager: true })
  const plan = sitePlan(CLOUDS)
  const documents = renderDocuments(plan)
  await prepareCluster(cluster.client, nodeNames(plan))
  const cast = startActors(cluster.connection, undefined, 10)
  const connection = await connect({ kubeconfig: cluster.kubeconfig, env: {} })
  const observer = await watchReadiness(connection)
  try {
    const run = async (): Promise<number> => {
      const began = performance.now()
      const report = await up({
        client: connection.client,
        plan,
        documents,
        selection: {},
        run: 'bench',
        what: 'up',
        sink: () => undefined,
        stop: neverAborted(),
        discoverHosts: async () => '',
      })
      if (report.outcome !== 'done') throw new Error(`the run ended ${report.outcome}`)
      return performance.now() - began
    }
    const first = await run()
    const lagMs = performance.now() - observer.last()
    const again: number[] = []
    for (let round = 0; round < 3; round += 1) again.push(await run())
    return { again: median(again) / first, lagMs }
  } finally {
    await observer.close()
    await connection.close()
    await cast.stop()
    await stop()
  }
})

/** Observes independently of the run when the last control plane became ready. */
async function watchReadiness({ client }: Connection) {
  const kind = { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' }
  const view = openLiveView(client)
  await view.watch([kind], context)
  let last = performance.now()
  let open = true
  const seen = new Map<string, boolean>()
  const watching = (async () => {
    while (open) {
      for (const object of view.index().all('core.openstack.org/OpenStackControlPlane')) {
        const { conditions = [] } = (object['status'] ?? {}) as {
          conditions?: { type: string; status: string }[]
        }
        const ready = conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
        const key = `${object.metadata.namespace}`
        if (ready && !seen.get(key)) last = performance.now()
        seen.set(key, ready)
      }
      await view.waitForChange(undefined, 100, context)
    }
  })()
  return {
    last: () => last,
    close: async () => {
      open = false
      await watching
      await view.close()
    },
  }
}

/** Runs the program with fifty clouds. */
async function peakMemory(): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  const { cluster, stop } = await startCluster({ crds: 'today', metallb: true, controllerManager: true })
  const cast = startActors(cluster.connection, undefined, 10)
  try {
    const nodes = Array.from({ length: NODES }, (_, index) => `worker-${index}`)
    await prepareCluster(cluster.client, nodes)
    const file = path.join(folder, 'site.yaml')
    writeFileSync(file, siteFile(50, nodes))
    const run = await runNode(['bin/stackloom', 'up', '-f', file, '--yes', '--kubeconfig', cluster.kubeconfig])
    return run.peakMiB
  } finally {
    await cast.stop()
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function siteFile(many: number, nodes: readonly string[]): string {
  const clouds = Array.from({ length: many }, (_, index) => ({ name: `c${index}`, namespace: `c${index}` }))
  return JSON.stringify({
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: 'bench' },
    spec: { cluster: { nodes: nodes.map((name) => ({ name, nic: 'enp6s0' })) }, clouds },
  })
}

export const figures: readonly Figure[] = [
  {
    // Against `kubectl apply --server-side -f` of the same tree of twenty new clouds.
    name: 'deploy.apply',
    unit: 'x',
    target: { op: '<=', value: 0.3 },
    measure: async () => (await applied()).againstKubectl,
  },
  {
    // What the API server takes for the same requests by a bare client, against kubectl.
    name: 'deploy.apply-floor',
    unit: 'x',
    measure: async () => (await applied()).floor,
  },
  {
    // Fifty new clouds against five: ten times the work.
    name: 'deploy.growth',
    unit: 'x',
    target: { op: '<=', value: 11.5 },
    measure: async () => (await applied()).growth,
  },
  {
    name: 'deploy.unchanged',
    unit: 'x',
    target: { op: '<=', value: 0.25 },
    measure: async () => (await ran()).again,
  },
  {
    // From the moment when the last control plane is ready to the end of the run.
    name: 'deploy.lag',
    unit: 'ms',
    target: { op: '<=', value: 1000 },
    measure: async () => (await ran()).lagMs,
  },
  {
    name: 'deploy.memory',
    unit: 'MiB',
    target: { op: '<=', value: 250 },
    measure: peakMemory,
  },
]
