/**
 * Reconciles OpenStackDataPlaneRole: one inventory for all nodes of a role, and runs that serve many of them at once.
 *
 * A role has one run at a time. It takes every host that is ready for the earliest step; hosts that failed are retried,
 * and hosts that were added meanwhile are in the next run.
 */
import { ipSets } from '../../api/ipset.ts'
import { isLabelValue } from '../../api/label-value.ts'
import { type Condition, type KubeObject, objectKey } from '../../api/object.ts'
import { dnsMasqs } from '../../controllers/dns/dns-kinds.ts'
import { conditionRequested, conditionTrue, readyCondition, worstSeverity } from '../../controllers/kit/conditions.ts'
import { IN_THE_WAY_RESYNC_MS } from '../../controllers/kit/ownership.ts'
import { requeueOnConflict, type Writer } from '../../controllers/kit/writes.ts'
import type { Finding } from '../../errors/finding.ts'
import type { Controller, ReconcileContext, ReconcileResult, Watch } from '../../kube/controller.ts'
import {
  byHost,
  byRole,
  bySource,
  configMapSource,
  type DataPlaneCaches,
  namedSources,
  ownerKeys,
  secretSource,
} from '../caches.ts'
import { ansibleRuns, hasEnded } from '../kinds/ansible-run.ts'
import {
  type DataPlaneRole,
  type DataPlaneRoleStatus,
  dataPlaneNodes,
  dataPlaneRoles,
  dataPlaneServices,
} from '../kinds/data-plane.ts'
import type { RunnerSettings } from '../rules/inheritance.ts'
import { provingRuns } from '../runs/attempts.ts'
import type { RunIndex } from '../runs/run-index.ts'
import { type OwnedSecrets, writeStatus } from '../writes.ts'
import { memoizeByNode, renderRoleHost, renderRoleInventory, roleInventoryName } from './inventory.ts'
import {
  conditionNotRequested,
  DEPLOYMENT_READY,
  deploymentCondition,
  MACHINE_READY,
  setupCondition,
} from './node-status.ts'
import type { NodeView, NodeViews } from './node-view.ts'
import type { RunnableStep } from './phase-zero.ts'

const WORKERS = 8
/** More hosts in one run would make its annotations too large to store. */
const MAX_HOSTS_PER_RUN = 500
const DATA_PLANE_LABEL = 'openstackdataplane'

export interface RoleControllerDeps {
  readonly caches: Pick<DataPlaneCaches, 'roles' | 'nodes' | 'ipSets' | 'dnsMasqs'>
  readonly views: NodeViews
  readonly viewWatches: readonly Watch[]
  readonly runs: Pick<RunIndex, 'forOwner' | 'start' | 'prune'>
  readonly writer: Writer
  readonly statusWriter: Writer
  readonly ownedSecrets: OwnedSecrets
  readonly settleMs: number
}

type RenderHost = (view: NodeView) => string

export function roleController(deps: RoleControllerDeps): Controller {
  const renderHost: RenderHost = memoizeByNode(({ effective, node, addresses }) =>
    renderRoleHost(effective, node, addresses),
  )
  return {
    name: 'dataplane-role',
    watches: roleWatches(deps),
    workers: WORKERS,
    reconcile: requeueOnConflict(async (request, context) => {
      // Nodes change in large numbers: one reconcile after a moment serves them all.
      await context.clock.sleep(deps.settleMs, context.signal)
      const role = deps.caches.roles.get(objectKey(request))
      if (!role || role.metadata.deletionTimestamp) return undefined
      return reconcileRole(deps, role, renderHost, context)
    }),
  }
}

function roleWatches({ caches, viewWatches }: RoleControllerDeps): readonly Watch[] {
  const keys = (roles: readonly DataPlaneRole[]): readonly string[] => roles.map(({ metadata }) => objectKey(metadata))
  const roleOfNode = ({ metadata, ...node }: KubeObject): readonly string[] => {
    const { role } = node['spec'] as { role?: string }
    return role ? [objectKey({ namespace: metadata.namespace ?? '', name: role })] : []
  }
  const rolesInNamespace = ({ metadata }: KubeObject): readonly string[] => keys(caches.roles.list(metadata.namespace))
  const rolesOfSource = ({ metadata }: KubeObject): readonly string[] => {
    const roles = caches.roles
      .list(metadata.namespace)
      .filter(({ spec }) => namedSources(spec.nodeTemplate, spec.env).includes(metadata.name))
    return [...caches.nodes.byIndex(bySource, objectKey(metadata)).flatMap(roleOfNode), ...keys(roles)]
  }
  const rolesOfIpSet = ({ metadata }: KubeObject): readonly string[] =>
    caches.nodes.byIndex(byHost, objectKey(metadata)).flatMap(roleOfNode)
  return [
    ...viewWatches,
    { kind: dataPlaneRoles },
    { kind: dataPlaneNodes, map: roleOfNode },
    { kind: dataPlaneServices, map: rolesInNamespace },
    { kind: ansibleRuns, map: ownerKeys(dataPlaneRoles.kind) },
    { ...secretSource, map: rolesOfSource },
    { ...configMapSource, map: rolesOfSource },
    ...(caches.ipSets ? [{ kind: ipSets, map: rolesOfIpSet }] : []),
    ...(caches.dnsMasqs ? [{ kind: dnsMasqs, map: rolesInNamespace }] : []),
  ]
}

async function reconcileRole(
  { caches, views: nodeViews, runs, writer, statusWriter, ownedSecrets }: RoleControllerDeps,
  stored: DataPlaneRole,
  renderHost: RenderHost,
  context: ReconcileContext,
): Promise<ReconcileResult | undefined> {
  const { signal, clock } = context
  const role = await writer.updateMetadata(caches.roles, stored, missingLabels(stored), signal)
  const { uid = '', name } = role.metadata
  const nodes = caches.nodes
    .byIndex(byRole, objectKey(role.metadata))
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  const views = await Promise.all(nodes.map((node) => nodeViews.view(node, clock.now(), signal)))
  let problem: Finding | undefined
  if (runs.forOwner(uid).every(hasEnded)) {
    const files = renderRoleInventory(role, views.filter(hasInventory).map(renderHost))
    problem = await ownedSecrets.write(role, roleInventoryName(name), { ...files }, signal)
    problem ??= await startRun(runs, role, views, signal)
  }
  const status = { conditions: roleConditions(role, views, problem), fields: roleStatus(role, views) }
  await writeStatus(statusWriter, caches.roles, role, status, context)
  await runs.prune(uid, () => recordedRuns(views), signal)
  const pauses = views.filter(({ effective }) => effective.deployedBy === 'role').flatMap(retryPauses)
  const delays = [...pauses, ...(problem ? [IN_THE_WAY_RESYNC_MS] : [])]
  return delays.length > 0 ? { requeueAfterMs: Math.min(...delays) } : undefined
}

function missingLabels({ metadata, spec }: DataPlaneRole): Partial<KubeObject['metadata']> {
  const { labels = {} } = metadata
  const { dataPlane = '' } = spec
  if (!isLabelValue(dataPlane) || labels[DATA_PLANE_LABEL] === dataPlane) return {}
  return { labels: { ...labels, [DATA_PLANE_LABEL]: dataPlane } }
}

/** Whether everything that its inventory entry needs is known. */
function hasInventory({ problems, addressState }: NodeView): boolean {
  return problems.length === 0 && addressState.kind !== 'awaited'
}

function retryPauses({ phaseZero }: NodeView): readonly number[] {
  return phaseZero.steps.flatMap(({ decision }) => (decision.kind === 'pause' ? [decision.ms] : []))
}

interface RunBatch {
  readonly step: RunnableStep
  readonly runner: RunnerSettings
  readonly request: string | undefined
  readonly hosts: Record<string, string>
  readonly previousRuns: Record<string, string>
  attempt: number
}

/** Hosts that share a run: the same step with the same runner settings. The earliest step comes first. */
function nextBatch(services: readonly string[], views: readonly NodeView[]): RunBatch | undefined {
  const batches = new Map<string, RunBatch>()
  for (const { node, effective, runRequest: request, phaseZero } of views) {
    const { next } = phaseZero
    if (!next || effective.deployedBy !== 'role') continue
    const { runner } = effective
    const key = JSON.stringify([services.indexOf(next.step.name), request, runner])
    const batch = batches.get(key) ?? { step: next.step, runner, request, hosts: {}, previousRuns: {}, attempt: 1 }
    batches.set(key, batch)
    if (Object.keys(batch.hosts).length >= MAX_HOSTS_PER_RUN) continue
    batch.hosts[effective.name] = next.hash
    batch.previousRuns[effective.name] = next.previousRun ?? node.metadata.uid ?? ''
    batch.attempt = Math.max(batch.attempt, next.attempt)
  }
  return [...batches.values()].toSorted((a, b) => services.indexOf(a.step.name) - services.indexOf(b.step.name)).at(0)
}

async function startRun(
  runs: RoleControllerDeps['runs'],
  role: DataPlaneRole,
  views: readonly NodeView[],
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const batch = nextBatch(role.spec.services ?? [], views)
  if (!batch) return undefined
  const { step, hosts, previousRuns, attempt, request } = batch
  const { sshSecret, ...runner } = batch.runner
  const name = roleInventoryName(role.metadata.name)
  const hasTemplate = Boolean(role.spec.nodeTemplate?.networkConfig?.template)
  const run = {
    owner: role,
    step: step.name,
    label: step.label,
    hosts,
    previousRuns,
    attempt,
    request,
    playbook: step.playbook,
    files: { sshSecret, inventory: { kind: 'Secret', name, hasTemplate } },
    runner,
  } as const
  return runs.start(run, signal)
}

function roleConditions(
  role: DataPlaneRole,
  views: readonly NodeView[],
  ownProblem: Finding | undefined,
): readonly Condition[] {
  const problem = ownProblem ?? views.flatMap(({ problems }) => problems)[0]
  const machines = views.filter(({ machine }) => machine.kind !== 'not-needed')
  const awaited = machines.filter(({ machine }) => machine.kind === 'awaited')
  const provisioned =
    awaited.length === 0
      ? conditionTrue(`Role${MACHINE_READY}`, 'Machines provisioned')
      : conditionRequested(`Role${MACHINE_READY}`, `${awaited.length} of ${machines.length} machines are awaited`)
  const conditions = [
    setupCondition(problem),
    ...(machines.length === 0 ? [] : [provisioned]),
    roleDeploymentCondition(role, views),
  ]
  return [readyCondition(conditions, worstSeverity, 'DataPlaneRole ready'), ...conditions]
}

function roleDeploymentCondition(role: DataPlaneRole, views: readonly NodeView[]): Condition {
  const open = views.filter(({ phaseZero }) => !phaseZero.isDone)
  if (open.length === 0) {
    return views.length === 0 && !role.spec.deployStrategy
      ? conditionNotRequested(DEPLOYMENT_READY, 'Deployment not started')
      : conditionTrue(DEPLOYMENT_READY, 'Deployment completed')
  }
  const conditions = open.map(({ phaseZero }) => deploymentCondition(phaseZero.steps))
  const worst = readyCondition(conditions, worstSeverity)
  const worstNode = open[conditions.findIndex(({ message }) => message === worst.message)]?.effective.name
  const message = `${open.length} of ${views.length} nodes are not deployed; ${worstNode}: ${worst.message}`
  return { ...worst, type: DEPLOYMENT_READY, message }
}

function roleStatus(role: DataPlaneRole, views: readonly NodeView[]): Omit<DataPlaneRoleStatus, 'conditions'> {
  const { generation, name } = role.metadata
  const ready = views.filter(({ problems, phaseZero }) => problems.length === 0 && phaseZero.isDone)
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    inventorySecretName: roleInventoryName(name),
    nodes: views.length,
    readyNodes: ready.length,
    deployed: (role.status?.deployed ?? false) || (views.length > 0 && ready.length === views.length),
  }
}

/** A run can be deleted when each of its hosts has recorded its result: in the stored status, not in the view. */
function recordedRuns(views: readonly NodeView[]): readonly string[] {
  return views.flatMap(({ phaseZero, node }) => [
    ...provingRuns(phaseZero.applied),
    ...provingRuns(node.status?.applied),
  ])
}
