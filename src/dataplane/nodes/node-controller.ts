/**
 * The node controller: phases -1 and 0 of one node, and how its services stand.
 *
 * A node with a deployStrategy of its own asks for its own runs; the others are served by their role's runs, and only
 * what these came to is written down here.
 */

import { ipSets } from '../../api/ipset.ts'
import { netConfigs } from '../../api/netconfig.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { dnsDatas, dnsMasqs } from '../../controllers/dns/dns-kinds.ts'
import { ignoreNotFound, requeueOnConflict } from '../../controllers/kit/writes.ts'
import type { Controller, ReconcileContext, ReconcileResult, Watch } from '../../kube/controller.ts'
import { ansibleRuns } from '../kinds/ansible-run.ts'
import { dataPlaneServices } from '../kinds/data-plane-service.ts'
import { type DataPlaneNode, dataPlaneNodes, ROLE_LABEL } from '../kinds/node.ts'
import { dataPlaneRoles } from '../kinds/role.ts'
import { type BareMetalHost, bareMetalHosts, consumerKeys } from '../machines/bare-metal.ts'
import { claimMachine, releaseMachine } from '../machines/claim-machine.ts'
import { runHosts } from '../runs/attempts.ts'
import { buildRun, type Playbook } from '../runs/run-object.ts'
import { servicesCondition } from '../services/services-condition.ts'
import {
  byHost,
  byNode,
  byRole,
  bySource,
  configMapKind,
  FIELD_MANAGER,
  FINALIZER,
  secretKind,
  sourcesNamed,
  type World,
} from '../world.ts'
import { writeMetadata, writeSecret, writeStatus } from '../writes.ts'
import { type InventoryFiles, nodeInventoryName, renderNodeInventory } from './inventory.ts'
import { memoizeByNode } from './memoize.ts'
import { ownerNodeKeys, registerDns, releaseNetwork, requestAddresses } from './node-network.ts'
import { nodeConditions, nodeStatus } from './node-status.ts'
import { buildNodeView, type NodeView } from './node-view.ts'
import type { RunnableStep } from './phase-zero.ts'
import { createStatusThrottle, type StatusThrottle } from './status-throttle.ts'

const WORKERS = 64

export function nodeController(world: World): Controller {
  const progress = createStatusThrottle(world.progressMs)
  const inventory: RenderInventory = memoizeByNode(({ effective, addresses }) =>
    renderNodeInventory(effective, addresses),
  )
  const watches: readonly Watch[] = [
    ...world.whole,
    { kind: dataPlaneNodes },
    {
      kind: dataPlaneRoles,
      map: ({ metadata }) => nodesOfRole(world, objectKey(metadata)),
      isOwnWrite: world.echoes.has,
    },
    { kind: dataPlaneServices, map: ({ metadata }) => nodesIn(world, metadata.namespace) },
    { kind: secretKind, map: (secret) => nodesOfSource(world, secret) },
    { kind: configMapKind, map: (configMap) => nodesOfSource(world, configMap) },
    { kind: ansibleRuns, map: (run) => hostKeys(run) },
    ...(world.machines ? [{ kind: bareMetalHosts, map: (one: KubeObject) => consumerKeys(one as BareMetalHost) }] : []),
    ...networkWatches(world),
    ...world.services.map(({ annotation }) => ({
      kind: annotation.kind,
      map: ({ metadata, ...object }: KubeObject) => {
        const { dataplaneNodeName } = object['spec'] as { dataplaneNodeName?: string }
        return [objectKey({ namespace: metadata.namespace ?? '', name: dataplaneNodeName ?? metadata.name })]
      },
    })),
  ]
  return {
    name: 'dataplane-node',
    watches,
    workers: WORKERS,
    reconcile: requeueOnConflict(async (request, context) => {
      const node = world.nodes.get(objectKey(request))
      if (!node) return undefined
      if (!node.metadata.deletionTimestamp) return reconcileNormal(world, { progress, inventory }, node, context)
      progress.forget(node)
      return reconcileDelete(world, node, context)
    }),
  }
}

function networkWatches(world: World): readonly Watch[] {
  const here = ({ metadata }: KubeObject): readonly string[] => nodesIn(world, metadata.namespace)
  return [
    ...(world.ipSets ? [{ kind: ipSets, map: (one: KubeObject) => nodesOfHost(world, one) }] : []),
    ...(world.netConfigs ? [{ kind: netConfigs, map: here }] : []),
    ...(world.dnsDatas ? [{ kind: dnsDatas, map: ownerNodeKeys }] : []),
    ...(world.dnsMasqs ? [{ kind: dnsMasqs, map: here }] : []),
  ]
}

function nodesOfRole(world: World, role: string): readonly string[] {
  return world.nodes.byIndex(byRole, role).map(({ metadata }) => objectKey(metadata))
}

function nodesIn(world: World, namespace: string | undefined): readonly string[] {
  return world.nodes.list(namespace).map(({ metadata }) => objectKey(metadata))
}

/** Secrets are many and change often; only the keys of nodes, and what their runs are given, matter. */
function nodesOfSource(world: World, { metadata }: KubeObject): readonly string[] {
  const roles = world.roles
    .list(metadata.namespace)
    .filter(({ spec }) => sourcesNamed(spec.nodeTemplate, spec.env).includes(metadata.name))
    .flatMap((role) => nodesOfRole(world, objectKey(role.metadata)))
  const own = world.nodes.byIndex(bySource, objectKey(metadata)).map((node) => objectKey(node.metadata))
  return [...roles, ...own]
}

/** An IPSet has the name of a host, which is its node's unless the node says otherwise. */
function nodesOfHost(world: World, { metadata }: KubeObject): readonly string[] {
  return world.nodes.byIndex(byHost, objectKey(metadata)).map((node) => objectKey(node.metadata))
}

function hostKeys(run: KubeObject): readonly string[] {
  const namespace = run.metadata.namespace ?? ''
  return [...runHosts(run as Parameters<typeof runHosts>[0])].map((name) => objectKey({ namespace, name }))
}

type RenderInventory = (view: NodeView) => InventoryFiles

async function reconcileNormal(
  world: World,
  { progress, inventory }: { readonly progress: StatusThrottle; readonly inventory: RenderInventory },
  stored: DataPlaneNode,
  context: ReconcileContext,
): Promise<ReconcileResult | undefined> {
  const { signal, clock } = context
  const node = await writeMetadata(world, world.nodes, stored, missingMetadata(stored), signal)
  const seen = buildNodeView(world, node, clock.now())
  const problem =
    (await requestAddresses(world, seen, signal)) ??
    (seen.addressState.kind === 'awaited' ? undefined : await claimMachine(world, seen, context))
  await registerDns(world, seen, signal)
  const view = problem ? { ...seen, problems: [...seen.problems, problem] } : seen
  const { namespace = '', name } = node.metadata
  const busy = world.runs.activeRun(namespace, name) !== undefined
  // A run that is under way reads its inventory when it begins: what it was made for must still stand there.
  if (view.problems.length === 0 && view.addressState.kind !== 'awaited' && !busy) {
    await writeSecret(world, node, nodeInventoryName(name), { ...inventory(view) }, signal)
    if (view.effective.deployedBy === 'node') await startOwnRun(world, view, context)
  }
  const underWay = isInProgress(view)
  const quietMs = underWay ? progress.remainingMs(node, clock.now()) : 0
  if (quietMs > 0) return { requeueAfterMs: quietMs }
  const told = nodeConditions(view, servicesCondition(world, node, view.role))
  const written = await writeStatus(world, world.nodes, node, { told, fields: nodeStatus(view) }, context)
  if (underWay) progress.written(node, clock.now())
  else progress.forget(node)
  // Only what is written down in the status may lose its evidence.
  const proofs = (): readonly string[] => Object.values(view.phaseZero.applied).map(({ run }) => run)
  await world.runs.prune(written.metadata.uid ?? '', proofs, signal)
  const [pause] = view.phaseZero.steps.flatMap(({ decision }) => (decision.kind === 'pause' ? [decision.ms] : []))
  return pause === undefined || view.effective.deployedBy === 'role' ? undefined : { requeueAfterMs: pause }
}

/** Nothing to tell but that one step after the other gets done. What is done stays proven by its run meanwhile. */
function isInProgress({ problems, machine, addressState, dnsState, phaseZero }: NodeView): boolean {
  const open = phaseZero.steps.find(({ decision }) => decision.kind !== 'done')
  const going = open?.decision.kind === 'running' || open?.decision.kind === 'start'
  return going && problems.length === 0 && [machine, addressState, dnsState].every(({ kind }) => kind !== 'awaited')
}

function missingMetadata({ metadata, spec }: DataPlaneNode): Partial<KubeObject['metadata']> {
  const { finalizers = [], labels = {} } = metadata
  return {
    ...(!finalizers.includes(FINALIZER) && { finalizers: [...finalizers, FINALIZER] }),
    ...(spec.role && labels[ROLE_LABEL] !== spec.role && { labels: { ...labels, [ROLE_LABEL]: spec.role } }),
  }
}

async function startOwnRun(world: World, view: NodeView, { signal }: ReconcileContext): Promise<void> {
  const { node, effective, runRequest, phaseZero } = view
  const { next } = phaseZero
  if (!next) return
  const { sshSecret, ...runner } = effective.runner
  const run = buildRun({
    owner: node,
    step: next.step.name,
    label: next.step.label,
    hosts: { [effective.name]: next.hash },
    previousRuns: { [effective.name]: next.after },
    attempt: next.attempt,
    request: runRequest,
    playbook: await loadPlaybook(world, next.step),
    files: {
      sshSecret,
      inventory: {
        kind: 'Secret',
        name: nodeInventoryName(effective.name),
        hasTemplate: effective.networkTemplate !== '',
      },
    },
    runner,
  })
  if (await world.runs.start(run, signal)) recordRunStarted(world, node, run.metadata.name, next.step.name)
}

/** Our own are sent as text, as they are now; their name is what counts for whether a host is out of date. */
export async function loadPlaybook(world: World, { playbook }: RunnableStep): Promise<Playbook> {
  return typeof playbook === 'string' ? { play: await world.playbook(playbook) } : playbook
}

export function recordRunStarted(world: World, regarding: KubeObject, run: string, step: string): void {
  world.record({ regarding, type: 'Normal', reason: 'RunStarted', action: 'Deploy', note: `${step}: ${run}` })
}

/** A node that goes takes its services along, if they may go, and gives its machine back. */
async function reconcileDelete(world: World, node: DataPlaneNode, context: ReconcileContext): Promise<undefined> {
  const { signal, clock } = context
  if (!node.metadata.finalizers?.includes(FINALIZER)) return undefined
  const key = objectKey(node.metadata)
  const services = world.services.flatMap((definition) =>
    world
      .objectsOf(definition)
      .byIndex(byNode, key)
      .map((object) => ({ definition, object })),
  )
  for (const { definition, object } of services) {
    if (object.metadata.deletionTimestamp) continue
    const { namespace = '', name } = object.metadata
    await world.client.delete({ ...definition.annotation.kind, namespace, name }, { signal })
  }
  if (services.length > 0) {
    const view = buildNodeView(world, node, clock.now())
    const told = nodeConditions(view, servicesCondition(world, node, view.role))
    await writeStatus(world, world.nodes, node, { told, fields: nodeStatus(view) }, context)
    return undefined
  }
  await releaseMachine(world, node, signal)
  await releaseNetwork(world, node, signal)
  const finalizers = node.metadata.finalizers.filter((finalizer) => finalizer !== FINALIZER)
  const left = { ...node, metadata: { ...node.metadata, finalizers } }
  await ignoreNotFound(world.client.update(left, { fieldManager: FIELD_MANAGER, signal }))
  return undefined
}
