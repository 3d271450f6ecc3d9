/**
 * The node controller: phases -1 and 0 of one node, and how its services stand.
 *
 * A node with a deployStrategy of its own asks for its own runs; the others are served by their role's runs, and only
 * what these came to is written down here.
 */

import { ansibleRuns } from '../../../api/ansibleee.ts'
import { type DataPlaneNode, dataPlaneNodes, ROLE_LABEL } from '../../../api/dataplane-node.ts'
import { dataPlaneRoles } from '../../../api/dataplane-role.ts'
import { dataPlaneServices } from '../../../api/dataplane-service.ts'
import { ipSets } from '../../../api/ipset.ts'
import { netConfigs } from '../../../api/netconfig.ts'
import { type KubeObject, keyOf } from '../../../api/object.ts'
import type { Controller, ReconcileContext, Reconciled, Watch } from '../../../kube/controller.ts'
import { calmly, gone } from '../../calmly.ts'
import { dnsDatas, dnsMasqs } from '../../dns/kinds.ts'
import { hostsIn } from '../attempts.ts'
import { type InventoryFiles, nodeInventory, nodeInventoryName } from '../inventory.ts'
import { type BareMetalHost, bareMetalHosts, consumerOf } from '../machines/bare-metal.ts'
import { releaseMachine, takeMachine } from '../machines/machines.ts'
import { remembered } from '../remembered.ts'
import { type Playbook, runObject } from '../run-object.ts'
import { servicesTold } from '../services/told.ts'
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
import { askForAddresses, giveBackNetwork, makerKeys, registerNames } from './network.ts'
import type { RunnableStep } from './phase-zero.ts'
import { createProgress, type Progress } from './progress.ts'
import { nodeConditions, nodeStatus } from './status.ts'
import { type NodeView, viewOf } from './view.ts'

const WORKERS = 64

export function nodeController(world: World): Controller {
  const progress = createProgress(world.progressMs)
  const inventory: Inventory = remembered(({ effective, addresses }) => nodeInventory(effective, addresses))
  const watches: readonly Watch[] = [
    ...world.whole,
    { kind: dataPlaneNodes },
    {
      kind: dataPlaneRoles,
      map: ({ metadata }) => nodesOfRole(world, keyOf(metadata)),
      isEcho: world.echoes.isEcho,
    },
    { kind: dataPlaneServices, map: ({ metadata }) => nodesIn(world, metadata.namespace) },
    { kind: secretKind, map: (secret) => nodesOfSource(world, secret) },
    { kind: configMapKind, map: (configMap) => nodesOfSource(world, configMap) },
    { kind: ansibleRuns, map: (run) => hostKeys(run) },
    ...(world.machines
      ? [{ kind: bareMetalHosts, map: (one: KubeObject) => consumerOf(one as BareMetalHost) }]
      : []),
    ...networkWatches(world),
    ...world.services.map(({ annotation }) => ({
      kind: annotation.kind,
      map: ({ metadata, ...object }: KubeObject) => {
        const { dataplaneNodeName } = object['spec'] as { dataplaneNodeName?: string }
        return [keyOf({ namespace: metadata.namespace ?? '', name: dataplaneNodeName ?? metadata.name })]
      },
    })),
  ]
  return {
    name: 'dataplane-node',
    watches,
    workers: WORKERS,
    reconcile: calmly(async (request, context) => {
      const node = world.nodes.get(keyOf(request))
      if (!node) return undefined
      if (!node.metadata.deletionTimestamp) return serve(world, { progress, inventory }, node, context)
      progress.ended(node)
      return leave(world, node, context)
    }),
  }
}

function networkWatches(world: World): readonly Watch[] {
  const here = ({ metadata }: KubeObject): readonly string[] => nodesIn(world, metadata.namespace)
  return [
    ...(world.ipSets ? [{ kind: ipSets, map: (one: KubeObject) => nodesOfHost(world, one) }] : []),
    ...(world.netConfigs ? [{ kind: netConfigs, map: here }] : []),
    ...(world.dnsDatas ? [{ kind: dnsDatas, map: makerKeys }] : []),
    ...(world.dnsMasqs ? [{ kind: dnsMasqs, map: here }] : []),
  ]
}

function nodesOfRole(world: World, role: string): readonly string[] {
  return world.nodes.by(byRole, role).map(({ metadata }) => keyOf(metadata))
}

function nodesIn(world: World, namespace: string | undefined): readonly string[] {
  return world.nodes.list(namespace).map(({ metadata }) => keyOf(metadata))
}

/** Secrets are many and change often; only the keys of nodes, and what their runs are given, matter. */
function nodesOfSource(world: World, { metadata }: KubeObject): readonly string[] {
  const roles = world.roles
    .list(metadata.namespace)
    .filter(({ spec }) => sourcesNamed(spec.nodeTemplate, spec.env).includes(metadata.name))
    .flatMap((role) => nodesOfRole(world, keyOf(role.metadata)))
  const own = world.nodes.by(bySource, keyOf(metadata)).map((node) => keyOf(node.metadata))
  return [...roles, ...own]
}

/** An IPSet has the name of a host, which is its node's unless the node says otherwise. */
function nodesOfHost(world: World, { metadata }: KubeObject): readonly string[] {
  return world.nodes.by(byHost, keyOf(metadata)).map((node) => keyOf(node.metadata))
}

function hostKeys(run: KubeObject): readonly string[] {
  const namespace = run.metadata.namespace ?? ''
  return [...hostsIn(run as Parameters<typeof hostsIn>[0])].map((name) => keyOf({ namespace, name }))
}

type Inventory = (view: NodeView) => InventoryFiles

async function serve(
  world: World,
  { progress, inventory }: { readonly progress: Progress; readonly inventory: Inventory },
  stored: DataPlaneNode,
  context: ReconcileContext,
): Promise<Reconciled | undefined> {
  const { signal, clock } = context
  const node = await writeMetadata(world, world.nodes, stored, marks(stored), signal)
  const seen = viewOf(world, node, clock.now())
  const problem =
    (await askForAddresses(world, seen, signal)) ??
    (seen.network.kind === 'awaited' ? undefined : await takeMachine(world, seen, context))
  await registerNames(world, seen, signal)
  const view = problem ? { ...seen, problems: [...seen.problems, problem] } : seen
  const { namespace = '', name } = node.metadata
  const busy = world.runs.touching(namespace, name) !== undefined
  // A run that is under way reads its inventory when it begins: what it was made for must still stand there.
  if (view.problems.length === 0 && view.network.kind !== 'awaited' && !busy) {
    await writeSecret(world, node, nodeInventoryName(name), { ...inventory(view) }, signal)
    if (view.effective.deployedBy === 'node') await startOwnRun(world, view, context)
  }
  const underWay = isUnderWay(view)
  const quietMs = underWay ? progress.left(node, clock.now()) : 0
  if (quietMs > 0) return { requeueAfterMs: quietMs }
  const told = nodeConditions(view, servicesTold(world, node, view.role))
  const written = await writeStatus(world, world.nodes, node, { told, fields: nodeStatus(view) }, context)
  if (underWay) progress.told(node, clock.now())
  else progress.ended(node)
  // Only what is written down in the status may lose its evidence.
  const proofs = (): readonly string[] => Object.values(view.phaseZero.applied).map(({ run }) => run)
  await world.runs.prune(written.metadata.uid ?? '', proofs, signal)
  const [pause] = view.phaseZero.steps.flatMap(({ decision }) =>
    decision.kind === 'pause' ? [decision.ms] : [],
  )
  return pause === undefined || view.effective.deployedBy === 'role' ? undefined : { requeueAfterMs: pause }
}

/** Nothing to tell but that one step after the other gets done. What is done stays proven by its run meanwhile. */
function isUnderWay({ problems, machine, network, names, phaseZero }: NodeView): boolean {
  const open = phaseZero.steps.find(({ decision }) => decision.kind !== 'done')
  const going = open?.decision.kind === 'running' || open?.decision.kind === 'start'
  return going && problems.length === 0 && [machine, network, names].every(({ kind }) => kind !== 'awaited')
}

function marks({ metadata, spec }: DataPlaneNode): Partial<KubeObject['metadata']> {
  const { finalizers = [], labels = {} } = metadata
  return {
    ...(!finalizers.includes(FINALIZER) && { finalizers: [...finalizers, FINALIZER] }),
    ...(spec.role && labels[ROLE_LABEL] !== spec.role && { labels: { ...labels, [ROLE_LABEL]: spec.role } }),
  }
}

async function startOwnRun(world: World, view: NodeView, { signal }: ReconcileContext): Promise<void> {
  const { node, effective, request, phaseZero } = view
  const { next } = phaseZero
  if (!next) return
  const { sshSecret, ...runner } = effective.runner
  const run = runObject({
    owner: node,
    step: next.step.name,
    label: next.step.label,
    hosts: { [effective.name]: next.hash },
    after: { [effective.name]: next.after },
    attempt: next.attempt,
    request,
    playbook: await playbookOf(world, next.step),
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
  if (await world.runs.start(run, signal)) tellStart(world, node, run.metadata.name, next.step.name)
}

/** Our own are sent as text, as they are now; their name is what counts for whether a host is out of date. */
export async function playbookOf(world: World, { playbook }: RunnableStep): Promise<Playbook> {
  return typeof playbook === 'string' ? { play: await world.playbook(playbook) } : playbook
}

export function tellStart(world: World, regarding: KubeObject, run: string, step: string): void {
  world.record({ regarding, type: 'Normal', reason: 'RunStarted', action: 'Deploy', note: `${step}: ${run}` })
}

/** A node that goes takes its services along, if they may go, and gives its machine back. */
async function leave(world: World, node: DataPlaneNode, context: ReconcileContext): Promise<undefined> {
  const { signal, clock } = context
  if (!node.metadata.finalizers?.includes(FINALIZER)) return undefined
  const key = keyOf(node.metadata)
  const services = world.services.flatMap((definition) =>
    world
      .objectsOf(definition)
      .by(byNode, key)
      .map((object) => ({ definition, object })),
  )
  for (const { definition, object } of services) {
    if (object.metadata.deletionTimestamp) continue
    const { namespace = '', name } = object.metadata
    await world.client.delete({ ...definition.annotation.kind, namespace, name }, { signal })
  }
  if (services.length > 0) {
    const view = viewOf(world, node, clock.now())
    const told = nodeConditions(view, servicesTold(world, node, view.role))
    await writeStatus(world, world.nodes, node, { told, fields: nodeStatus(view) }, context)
    return undefined
  }
  await releaseMachine(world, node, signal)
  await giveBackNetwork(world, node, signal)
  const finalizers = node.metadata.finalizers.filter((one) => one !== FINALIZER)
  const left = { ...node, metadata: { ...node.metadata, finalizers } }
  await gone(world.client.update(left, { fieldManager: FIELD_MANAGER, signal }))
  return undefined
}
