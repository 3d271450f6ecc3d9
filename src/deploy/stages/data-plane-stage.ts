/**
 * Builds the stage for a cloud's data plane: NodeSets first, then the Deployment, then nova's host discovery.
 *
 * A Deployment runs once. It must not start before the NodeSets are set up: it would fail and stay failed.
 */
import { type GroupVersionKind, type KubeObject, objectKey } from '../../api/object.ts'
import { formatObjectName, getList } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { failure } from '../../errors/failure.ts'
import type { Connection } from '../../kube/connect.ts'
import { execInPod } from '../../kube/pod-exec.ts'
import type { WriteGuard } from '../../kube/write-guard.ts'
import type { StageContext } from '../../run/stage.ts'
import { nodeSetSetupReadiness } from '../../verify/readiness/openstack.ts'
import { applyRule, progressing, type Readiness, worst } from '../../verify/readiness/verdict.ts'
import { DATA_PLANE_DEPLOYMENT, isRunningDeployment } from '../../verify/running-deployments.ts'
import { applyChanges } from '../apply.ts'
import { discoveryFailed } from '../findings/up.ts'
import { type LiveView, waitUntilReady } from '../live-view.ts'
import { departures } from '../moved-hosts.ts'
import {
  compareObjects,
  distinctKinds,
  FIELD_MANAGER,
  findLive,
  type ObjectChange,
  objectRef,
} from '../object-changes.ts'
import { retry } from '../retry.ts'
import { type ApplyDeps, applyAndWait, type StageWork } from './apply-and-wait.ts'

/** Marks a Deployment whose hosts nova has discovered. */
const DISCOVERED = 'stackloom.dev/hosts-discovered'
const NODE_SET = 'dataplane.openstack.org/OpenStackDataPlaneNodeSet'

const relatedKinds: readonly GroupVersionKind[] = [
  { apiVersion: 'v1', kind: 'Pod' },
  { apiVersion: 'batch/v1', kind: 'Job' },
]

/** Maps the new hosts of a namespace to their nova cells and returns a message about the result. */
export type DiscoverHosts = (namespace: string, context: StageContext) => Promise<string>

export interface DataPlaneDeps extends ApplyDeps {
  readonly discoverHosts: DiscoverHosts
}

export function dataPlaneStage(deps: DataPlaneDeps, namespace: string, objects: readonly KubeObject[]): StageWork {
  const { view } = deps
  const isDeployment = ({ kind }: KubeObject): boolean => kind === 'OpenStackDataPlaneDeployment'
  const deployments = objects.filter(isDeployment)
  const nodeSets = objects.filter((object) => formatGroupKind(object) === NODE_SET)
  const all = applyAndWait(deps, { objects, related: relatedKinds, namespace, empty: 'the cloud has no hosts' })
  const isDiscovered = (deployment: KubeObject): boolean =>
    findLive(objectRef(deployment), view.index())?.metadata.annotations?.[DISCOVERED] !== undefined
  return {
    check: async (context) => {
      const result = await all.check(context)
      if (result.kind === 'needed' || deployments.every(isDiscovered)) return result
      return { kind: 'needed', reason: 'nova has not discovered the hosts yet' }
    },
    work: async (context) => {
      await view.watch([...distinctKinds(objects), ...relatedKinds], context)
      const first = objects.filter((object) => !isDeployment(object))
      // The operator refuses to change a NodeSet while a Deployment runs on it.
      await waitUntilReady(
        () => deploymentsEnded(compareObjects(nodeSets, view.index()), view),
        view,
        context,
        namespace,
      )
      await applyChanges(departures(compareObjects(nodeSets, view.index())), deps, context)
      await applyChanges(compareObjects(first, view.index()), deps, context)
      const areSetUp = (): Readiness => worst(nodeSets.map((nodeSet) => setupReadiness(nodeSet, deps, context)))
      await waitUntilReady(areSetUp, view, context, namespace)
      await all.work(context)
      context.emit({ kind: 'progress', message: await deps.discoverHosts(namespace, context) })
      // The mark comes last: a run that was killed before it discovers the hosts again.
      for (const deployment of deployments)
        if (!isDiscovered(deployment)) await markDiscovered(deployment, deps, context)
    },
  }
}

/** Ready when no Deployment runs on a NodeSet that is to be changed. */
function deploymentsEnded(changes: readonly ObjectChange[], view: LiveView): Readiness {
  const changed = new Set(
    changes.filter(({ change }) => change === 'update').map(({ desired }) => objectKey(desired.metadata)),
  )
  const running = view
    .index()
    .all(DATA_PLANE_DEPLOYMENT)
    .filter((deployment) => isRunningDeployment(deployment))
    .filter((deployment) =>
      getList(deployment, 'spec', 'nodeSets').some((name) =>
        changed.has(`${deployment.metadata.namespace}/${String(name)}`),
      ),
    )
  return worst(running.map((deployment) => progressing(`${formatObjectName(deployment)} to end`)))
}

async function markDiscovered(
  deployment: KubeObject,
  { client, retryPolicy }: DataPlaneDeps,
  context: StageContext,
): Promise<void> {
  const patch = { metadata: { annotations: { [DISCOVERED]: 'true' } } }
  const write = () => client.patch(objectRef(deployment), patch, { type: 'merge', fieldManager: FIELD_MANAGER })
  await retry(write, context, retryPolicy)
}

function setupReadiness(nodeSet: KubeObject, { readiness }: DataPlaneDeps, context: StageContext): Readiness {
  const readinessContext = readiness(context, nodeSet.metadata.namespace)
  const live = findLive(objectRef(nodeSet), readinessContext.around)
  return live
    ? applyRule(nodeSetSetupReadiness, live, readinessContext)
    : progressing(`${formatObjectName(nodeSet)} to exist`)
}

const CONDUCTOR = 'nova-cell0-conductor-0'
/** Pods of a sandbox do not run, so no command can be executed in them. */
const SIMULATED = 'sandbox.stackloom.dev/played'

/** Runs `nova-manage cell_v2 discover_hosts` in the conductor's pod: nova's cells do not find new hosts themselves. */
export function discoverHosts(
  { client, transport }: Pick<Connection, 'client' | 'transport'>,
  guard: WriteGuard,
): DiscoverHosts {
  return async (namespace, { stop }) => {
    const pod = await client.get({ apiVersion: 'v1', kind: 'Pod', namespace, name: CONDUCTOR })
    const fail = (reason: string): Error => failure(discoveryFailed, { namespace, reason }, { exitCode: 1 })
    if (!pod) throw fail(`there is no pod ${CONDUCTOR}`)
    if (pod.metadata.annotations?.[SIMULATED] !== undefined) return 'the conductor is simulated: no hosts to discover'
    const { exitCode, stdout, stderr } = await execInPod(transport, {
      namespace,
      pod: CONDUCTOR,
      command: ['nova-manage', 'cell_v2', 'discover_hosts', '--verbose'],
      timeoutMs: 120_000,
      signal: stop,
      guard,
    })
    if (exitCode !== 0) throw fail(lastLine(stderr) || `it ended with ${exitCode}`)
    return lastLine(stdout) || 'no new hosts'
  }
}

function lastLine(text: string): string | undefined {
  return text.trim().split('\n').at(-1)
}
