/**
 * Reconciles OpenStackDataPlaneNode: phases -1 and 0 of one node, and the state of its services.
 *
 * A node with a deployStrategy of its own starts its own runs; the runs of its role serve the others, and this
 * controller only records their results.
 */
import { ipSets } from '../../api/ipset.ts'
import { isLabelValue } from '../../api/label-value.ts'
import { netConfigs } from '../../api/netconfig.ts'
import { type Condition, type KubeObject, objectKey } from '../../api/object.ts'
import { dnsDatas, dnsMasqs } from '../../controllers/dns/dns-kinds.ts'
import { IN_THE_WAY_RESYNC_MS } from '../../controllers/kit/ownership.ts'
import { ignoreNotFound, requeueOnConflict, type Writer } from '../../controllers/kit/writes.ts'
import { objectInTheWay } from '../../errors/common.ts'
import type { Finding } from '../../errors/finding.ts'
import type { Controller, ReconcileContext, ReconcileResult, Watch } from '../../kube/controller.ts'
import type { Runtime } from '../../kube/runtime.ts'
import {
  byHost,
  byNode,
  byRole,
  bySource,
  configMapSource,
  type DataPlaneCaches,
  namedSources,
  ownerKeys,
  secretSource,
} from '../caches.ts'
import { type AnsibleRun, ansibleRuns } from '../kinds/ansible-run.ts'
import {
  type DataPlaneNode,
  dataPlaneNodes,
  dataPlaneRoles,
  dataPlaneServices,
  ROLE_LABEL,
} from '../kinds/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { type BareMetalHost, bareMetalHosts, consumerKeys } from '../machines/bare-metal.ts'
import { claimMachine, releaseMachine } from '../machines/claim-machine.ts'
import { provingRuns, runHosts } from '../runs/attempts.ts'
import { clearingCondition } from '../runs/clearing.ts'
import type { RunRetry } from '../runs/decide-step.ts'
import type { RunIndex } from '../runs/run-index.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import type { ControlPlane } from '../services/nova-control-plane.ts'
import { servicesCondition } from '../services/services-condition.ts'
import { FIELD_MANAGER, FINALIZER, type OwnedSecrets, writeStatus } from '../writes.ts'
import { type InventoryFiles, memoizeByNode, nodeInventoryName, renderNodeInventory } from './inventory.ts'
import { leaveOvn } from './leave-ovn.ts'
import { registerDns, releaseNetwork, requestAddresses } from './node-network.ts'
import { isProgressing, nodeConditions, nodeStatus } from './node-status.ts'
import type { NodeView, NodeViews } from './node-view.ts'
import { createStatusThrottle, type StatusThrottle } from './status-throttle.ts'

const WORKERS = 64

export interface NodeControllerDeps {
  readonly client: Runtime['client']
  readonly caches: DataPlaneCaches
  readonly views: NodeViews
  readonly viewWatches: readonly Watch[]
  readonly runs: RunIndex
  readonly retry: RunRetry
  readonly controlPlane: Pick<ControlPlane, 'removeAgents'>
  readonly services: readonly ServiceDefinition[]
  readonly unserved: readonly ServiceDefinition[]
  readonly writer: Writer
  readonly statusWriter: Writer
  readonly isOwnWrite: (object: KubeObject) => boolean
  readonly ownedSecrets: OwnedSecrets
  readonly progressMs: number
}

/** What the controller keeps between reconciles. */
interface NodeMemory {
  readonly throttle: StatusThrottle
  readonly renderInventory: (view: NodeView) => InventoryFiles
}

export function nodeController(deps: NodeControllerDeps): Controller {
  const { caches } = deps
  const memory: NodeMemory = {
    throttle: createStatusThrottle(deps.progressMs),
    renderInventory: memoizeByNode(({ effective, addresses }) => renderNodeInventory(effective, addresses)),
  }
  return {
    name: 'dataplane-node',
    watches: nodeWatches(deps),
    workers: WORKERS,
    reconcile: requeueOnConflict(async (request, context) => {
      const node = caches.nodes.get(objectKey(request))
      if (!node) return undefined
      if (!node.metadata.deletionTimestamp) return reconcileNormal(deps, memory, node, context)
      memory.throttle.forget(node)
      return reconcileDelete(deps, node, context)
    }),
  }
}

function nodeWatches({ caches, services, viewWatches, isOwnWrite }: NodeControllerDeps): readonly Watch[] {
  const keys = (nodes: readonly DataPlaneNode[]): readonly string[] => nodes.map(({ metadata }) => objectKey(metadata))
  const nodesOfRole = (role: KubeObject): readonly string[] =>
    keys(caches.nodes.byIndex(byRole, objectKey(role.metadata)))
  const nodesInNamespace = ({ metadata }: KubeObject): readonly string[] => keys(caches.nodes.list(metadata.namespace))
  /** Secrets are many and change often: only those that a node or its role names matter. */
  const nodesOfSource = ({ metadata }: KubeObject): readonly string[] => {
    const roles = caches.roles
      .list(metadata.namespace)
      .filter(({ spec }) => namedSources(spec.nodeTemplate, spec.env).includes(metadata.name))
    return [...roles.flatMap(nodesOfRole), ...keys(caches.nodes.byIndex(bySource, objectKey(metadata)))]
  }
  const nodesOfIpSet = ({ metadata }: KubeObject): readonly string[] =>
    keys(caches.nodes.byIndex(byHost, objectKey(metadata)))
  const nodesOfRun = (run: KubeObject): readonly string[] =>
    [...runHosts(run as AnsibleRun)].map((name) => objectKey({ namespace: run.metadata.namespace ?? '', name }))
  const nodeOfService = ({ metadata, ...object }: KubeObject): readonly string[] => {
    const { dataplaneNodeName = metadata.name } = object['spec'] as ServiceObject['spec']
    return [objectKey({ namespace: metadata.namespace ?? '', name: dataplaneNodeName })]
  }
  return [
    ...viewWatches,
    { kind: dataPlaneNodes },
    { kind: dataPlaneRoles, map: nodesOfRole, isOwnWrite },
    { kind: dataPlaneServices, map: nodesInNamespace },
    { ...secretSource, map: nodesOfSource },
    { ...configMapSource, map: nodesOfSource },
    { kind: ansibleRuns, map: nodesOfRun },
    ...(caches.machines
      ? [{ kind: bareMetalHosts, map: (host: KubeObject) => consumerKeys(host as BareMetalHost) }]
      : []),
    ...(caches.ipSets ? [{ kind: ipSets, map: nodesOfIpSet }] : []),
    ...(caches.netConfigs ? [{ kind: netConfigs, map: nodesInNamespace }] : []),
    ...(caches.dnsDatas ? [{ kind: dnsDatas, map: ownerKeys(dataPlaneNodes.kind) }] : []),
    ...(caches.dnsMasqs ? [{ kind: dnsMasqs, map: nodesInNamespace }] : []),
    ...services.map(({ annotation }) => ({ kind: annotation.kind, map: nodeOfService })),
  ]
}

async function reconcileNormal(
  deps: NodeControllerDeps,
  { throttle, renderInventory }: NodeMemory,
  stored: DataPlaneNode,
  context: ReconcileContext,
): Promise<ReconcileResult | undefined> {
  const { client, caches, runs, views } = deps
  const { signal, clock } = context
  const node = await deps.writer.updateMetadata(caches.nodes, stored, missingMetadata(stored), signal)
  let view = await provisionNode(deps, await views.view(node, clock.now(), signal), signal)
  view = withProblem(view, await registerDns(client, caches.dnsDatas, view, signal))
  const { namespace = '', name } = node.metadata
  // An active run reads its inventory when it starts: the inventory must not change before.
  const isIdle = runs.activeRun(namespace, name) === undefined
  if (view.problems.length === 0 && view.addressState.kind !== 'awaited' && isIdle) {
    const files = { ...renderInventory(view) }
    view = withProblem(view, await deps.ownedSecrets.write(node, nodeInventoryName(name), files, signal))
    const startsRun = view.problems.length === 0 && view.effective.deployedBy === 'node'
    if (startsRun) view = withProblem(view, await startOwnRun(runs, view, signal))
  }
  const inProgress = isInProgress(view)
  const quietMs = inProgress ? throttle.remainingMs(node, clock.now()) : 0
  if (quietMs > 0) return { requeueAfterMs: quietMs }
  const written = await writeNodeStatus(deps, view, context)
  if (inProgress) throttle.written(node, clock.now())
  else throttle.forget(node)
  // A run is deleted only after the status records its result.
  const proofs = (): readonly string[] => provingRuns(view.phaseZero.applied)
  await runs.prune(written.metadata.uid ?? '', proofs, signal)
  if (view.problems.some(({ code }) => code === objectInTheWay.code)) return { requeueAfterMs: IN_THE_WAY_RESYNC_MS }
  const [pause] = view.phaseZero.steps.flatMap(({ decision }) => (decision.kind === 'pause' ? [decision.ms] : []))
  return pause === undefined || view.effective.deployedBy === 'role' ? undefined : { requeueAfterMs: pause }
}

/** Requests addresses, then claims a machine; a problem of either is added to the view. */
async function provisionNode(
  { client, caches }: NodeControllerDeps,
  view: NodeView,
  signal: AbortSignal,
): Promise<NodeView> {
  const problem =
    (await requestAddresses(client, caches.ipSets, view, signal)) ??
    (view.addressState.kind === 'awaited' ? undefined : await claimMachine(client, caches, view, signal))
  return withProblem(view, problem)
}

function withProblem(view: NodeView, problem: Finding | undefined): NodeView {
  return problem ? { ...view, problems: [...view.problems, problem] } : view
}

function writeNodeStatus(
  deps: NodeControllerDeps,
  view: NodeView,
  context: ReconcileContext,
  removal?: Condition,
): Promise<DataPlaneNode> {
  const conditions = nodeConditions(view, servicesCondition(deps, view.node, view.role), removal)
  const status = { conditions, fields: nodeStatus(view) }
  return writeStatus(deps.statusWriter, deps.caches.nodes, view.node, status, context)
}

/** One step after the other runs without a problem. Their runs prove what is done until the status is written. */
function isInProgress({ problems, machine, addressState, dnsState, phaseZero }: NodeView): boolean {
  const open = phaseZero.steps.find(({ decision }) => decision.kind !== 'done')
  const isRunning = open !== undefined && isProgressing(open.decision)
  const isProvisioned = [machine, addressState, dnsState].every(({ kind }) => kind !== 'awaited')
  return isRunning && problems.length === 0 && isProvisioned
}

/** The webhook sets both at creation; this is for clusters without it. */
function missingMetadata({ metadata, spec }: DataPlaneNode): Partial<KubeObject['metadata']> {
  const { finalizers = [], labels = {} } = metadata
  const { role = '' } = spec
  return {
    ...(!finalizers.includes(FINALIZER) && { finalizers: [...finalizers, FINALIZER] }),
    ...(isLabelValue(role) && labels[ROLE_LABEL] !== role && { labels: { ...labels, [ROLE_LABEL]: role } }),
  }
}

async function startOwnRun(
  runs: RunIndex,
  { node, effective, runRequest, phaseZero }: NodeView,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const { next } = phaseZero
  if (!next) return undefined
  const { sshSecret, ...runner } = effective.runner
  const inventory = nodeInventoryName(effective.name)
  const run = {
    owner: node,
    step: next.step.name,
    label: next.step.label,
    hosts: { [effective.name]: next.hash },
    previousRuns: { [effective.name]: next.previousRun ?? node.metadata.uid ?? '' },
    attempt: next.attempt,
    request: runRequest,
    playbook: next.step.playbook,
    files: {
      sshSecret,
      inventory: { kind: 'Secret', name: inventory, hasTemplate: effective.networkTemplate !== '' },
    },
    runner,
  } as const
  return runs.start(run, signal)
}

/** Deletes the services of the node, where they can be, takes it out of OVN, then releases its machine, names and addresses. */
async function reconcileDelete(
  deps: NodeControllerDeps,
  node: DataPlaneNode,
  context: ReconcileContext,
): Promise<ReconcileResult | undefined> {
  const { client, caches } = deps
  const { signal, clock } = context
  if (!node.metadata.finalizers?.includes(FINALIZER)) return undefined
  const services = deps.services.flatMap((definition) => {
    const objects = caches.serviceObjects(definition).byIndex(byNode, objectKey(node.metadata))
    return objects.map(({ metadata }) => ({ kind: definition.annotation.kind, metadata }))
  })
  for (const { kind, metadata } of services) {
    if (metadata.deletionTimestamp) continue
    const { namespace = '', name, uid } = metadata
    const options = { signal, ...(uid !== undefined && { preconditions: { uid } }) }
    await client.delete({ ...kind, namespace, name }, options)
  }
  const view = await deps.views.view(node, clock.now(), signal)
  if (services.length > 0) {
    await writeNodeStatus(deps, view, context)
    return undefined
  }
  const hasNova = deps.services.some(({ registration }) => registration === 'compute-host')
  const { runs, retry, controlPlane } = deps
  const clearing = await leaveOvn({ runs, retry, controlPlane: hasNova ? controlPlane : undefined }, view, context)
  if (clearing) {
    await writeNodeStatus(deps, view, context, clearingCondition(clearing))
    return clearing.retryAfterMs === undefined ? undefined : { requeueAfterMs: clearing.retryAfterMs }
  }
  await releaseMachine(client, caches.machines, node, signal)
  await releaseNetwork(client, caches, node, signal)
  const finalizers = node.metadata.finalizers.filter((finalizer) => finalizer !== FINALIZER)
  const released = { ...node, metadata: { ...node.metadata, finalizers } }
  await ignoreNotFound(client.update(released, { fieldManager: FIELD_MANAGER, signal }))
  return undefined
}
