/**
 * The role controller: one inventory for all nodes of a role, and runs that serve many of them at once.
 *
 * One run of a role at a time. It takes every host that is ready for the earliest step; hosts that failed come again by
 * themselves, hosts that were added meanwhile come with the next one.
 */

import { ipSets } from '../../api/ipset.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { dnsMasqs } from '../../controllers/dns/dns-kinds.ts'
import { requeueOnConflict } from '../../controllers/kit/writes.ts'
import type { Controller, ReconcileContext, ReconcileResult } from '../../kube/controller.ts'
import {
  type ConditionState,
  conditionError,
  conditionNotRequested,
  conditionTrue,
  conditionWaiting,
  summarizeReady,
} from '../conditions.ts'
import { ansibleRuns, hasEnded } from '../kinds/ansible-run.ts'
import { dataPlaneServices } from '../kinds/data-plane-service.ts'
import { dataPlaneNodes } from '../kinds/node.ts'
import { type DataPlaneRole, type DataPlaneRoleStatus, dataPlaneRoles } from '../kinds/role.ts'
import type { RunnerSettings } from '../rules/inheritance.ts'
import { buildRun } from '../runs/run-object.ts'
import { byHost, byRole, bySource, configMapKind, secretKind, sourcesNamed, type World } from '../world.ts'
import { writeMetadata, writeSecret, writeStatus } from '../writes.ts'
import { renderRoleHost, renderRoleInventory, roleInventoryName } from './inventory.ts'
import { memoizeByNode } from './memoize.ts'
import { loadPlaybook, recordRunStarted } from './node-controller.ts'
import { DEPLOYMENT_READY, deploymentCondition, MACHINE_READY, SETUP_READY } from './node-status.ts'
import { buildNodeView, type NodeView } from './node-view.ts'
import type { RunnableStep } from './phase-zero.ts'

const WORKERS = 8
/** More hosts in one run would make its annotations too large to store. */
const MAX_HOSTS_PER_RUN = 500
const DATA_PLANE_LABEL = 'openstackdataplane'

export function roleController(world: World): Controller {
  const hostText: RenderHost = memoizeByNode(({ effective, node, addresses }) =>
    renderRoleHost(effective, node, addresses),
  )
  return {
    name: 'dataplane-role',
    watches: [
      ...world.whole,
      { kind: dataPlaneRoles },
      { kind: dataPlaneNodes, map: roleKeys },
      {
        kind: dataPlaneServices,
        map: (service) => rolesIn(world, service),
      },
      { kind: ansibleRuns, map: ownerKeys },
      { kind: secretKind, map: (one) => rolesOfSource(world, one) },
      { kind: configMapKind, map: (one) => rolesOfSource(world, one) },
      ...(world.ipSets ? [{ kind: ipSets, map: (one: KubeObject) => rolesOfHost(world, one) }] : []),
      ...(world.dnsMasqs ? [{ kind: dnsMasqs, map: (one: KubeObject) => rolesIn(world, one) }] : []),
    ],
    workers: WORKERS,
    reconcile: requeueOnConflict(async (request, context) => {
      // Nodes change in crowds: one look after a moment serves them all.
      await context.clock.sleep(world.settleMs, context.signal)
      const role = world.roles.get(objectKey(request))
      if (!role || role.metadata.deletionTimestamp) return undefined
      return reconcileRole(world, role, hostText, context)
    }),
  }
}

function roleKeys({ metadata, ...node }: KubeObject): readonly string[] {
  const { role } = node['spec'] as { role?: string }
  return role ? [objectKey({ namespace: metadata.namespace ?? '', name: role })] : []
}

function rolesIn(world: World, { metadata }: KubeObject): readonly string[] {
  return world.roles.list(metadata.namespace).map((role) => objectKey(role.metadata))
}

/** Those whose runs are given this Secret or ConfigMap. */
function rolesOfSource(world: World, { metadata }: KubeObject): readonly string[] {
  const own = world.nodes.byIndex(bySource, objectKey(metadata)).flatMap(roleKeys)
  const roles = world.roles
    .list(metadata.namespace)
    .filter(({ spec }) => sourcesNamed(spec.nodeTemplate, spec.env).includes(metadata.name))
  return [...own, ...roles.map((role) => objectKey(role.metadata))]
}

function rolesOfHost(world: World, { metadata }: KubeObject): readonly string[] {
  return world.nodes.byIndex(byHost, objectKey(metadata)).flatMap(roleKeys)
}

function ownerKeys({ metadata }: KubeObject): readonly string[] {
  return (metadata.ownerReferences ?? [])
    .filter(({ kind }) => kind === dataPlaneRoles.kind)
    .map(({ name }) => objectKey({ namespace: metadata.namespace ?? '', name }))
}

type RenderHost = (view: NodeView) => string

async function reconcileRole(
  world: World,
  stored: DataPlaneRole,
  hostText: RenderHost,
  context: ReconcileContext,
): Promise<ReconcileResult | undefined> {
  const { signal, clock } = context
  const role = await writeMetadata(world, world.roles, stored, missingLabels(stored), signal)
  const { uid = '', name } = role.metadata
  const nodes = world.nodes
    .byIndex(byRole, objectKey(role.metadata))
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  const views = nodes.map((node) => buildNodeView(world, node, clock.now()))
  const running = world.runs.forOwner(uid).find((run) => !hasEnded(run))
  if (!running) {
    const files = renderRoleInventory(role, views.filter(hasInventory).map(hostText))
    await writeSecret(world, role, roleInventoryName(name), { ...files }, signal)
    await startRun(world, role, views, signal)
  }
  const said = { told: roleConditions(role, views), fields: roleStatus(role, views) }
  await writeStatus(world, world.roles, role, said, context)
  await world.runs.prune(uid, () => recordedRuns(views), signal)
  const pauses = views.filter(({ effective }) => effective.deployedBy === 'role').flatMap(retryPauses)
  return pauses.length > 0 ? { requeueAfterMs: Math.min(...pauses) } : undefined
}

function missingLabels({ metadata, spec }: DataPlaneRole): Partial<KubeObject['metadata']> {
  const { labels = {} } = metadata
  if (!spec.dataPlane || labels[DATA_PLANE_LABEL] === spec.dataPlane) return {}
  return { labels: { ...labels, [DATA_PLANE_LABEL]: spec.dataPlane } }
}

/** What Ansible is told of a host is known. */
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
  readonly after: Record<string, string>
  attempt: number
}

/** The hosts that can go together: the same step, run in the same way. The earliest step first. */
function nextBatch(services: readonly string[], views: readonly NodeView[]): RunBatch | undefined {
  const crowds = new Map<string, RunBatch>()
  for (const { effective, runRequest, phaseZero } of views) {
    const { next } = phaseZero
    if (!next || effective.deployedBy !== 'role') continue
    const key = JSON.stringify([services.indexOf(next.step.name), runRequest, effective.runner])
    const crowd: RunBatch = crowds.get(key) ?? {
      step: next.step,
      runner: effective.runner,
      request: runRequest,
      hosts: {},
      after: {},
      attempt: 1,
    }
    crowds.set(key, crowd)
    if (Object.keys(crowd.hosts).length >= MAX_HOSTS_PER_RUN) continue
    crowd.hosts[effective.name] = next.hash
    crowd.after[effective.name] = next.after
    crowd.attempt = Math.max(crowd.attempt, next.attempt)
  }
  return [...crowds.values()].toSorted((a, b) => services.indexOf(a.step.name) - services.indexOf(b.step.name)).at(0)
}

async function startRun(
  world: World,
  role: DataPlaneRole,
  views: readonly NodeView[],
  signal: AbortSignal,
): Promise<void> {
  const crowd = nextBatch(role.spec.services ?? [], views)
  if (!crowd) return
  const { sshSecret, ...runner } = crowd.runner
  const { name } = role.metadata
  const run = buildRun({
    owner: role,
    step: crowd.step.name,
    label: crowd.step.label,
    hosts: crowd.hosts,
    previousRuns: crowd.after,
    attempt: crowd.attempt,
    request: crowd.request,
    playbook: await loadPlaybook(world, crowd.step),
    files: {
      sshSecret,
      inventory: {
        kind: 'Secret',
        name: roleInventoryName(name),
        hasTemplate: Boolean(role.spec.nodeTemplate?.networkConfig?.template),
      },
    },
    runner,
  })
  if (await world.runs.start(run, signal)) recordRunStarted(world, role, run.metadata.name, crowd.step.name)
}

function roleConditions(role: DataPlaneRole, views: readonly NodeView[]): readonly ConditionState[] {
  const broken = views.find(({ problems }) => problems.length > 0)
  const [problem] = broken?.problems ?? []
  const setup = problem ? conditionError(SETUP_READY, problem) : conditionTrue(SETUP_READY, 'Setup complete')
  const machines = views.filter(({ machine }) => machine.kind !== 'not-needed')
  const awaited = machines.filter(({ machine }) => machine.kind === 'awaited')
  const provisioned =
    machines.length === 0
      ? []
      : [
          awaited.length === 0
            ? conditionTrue(`Role${MACHINE_READY}`, 'Machines provisioned')
            : conditionWaiting(`Role${MACHINE_READY}`, `${awaited.length} of ${machines.length} machines are awaited`),
        ]
  const all = [setup, ...provisioned, roleDeploymentCondition(role, views)]
  return [summarizeReady(all, 'DataPlaneRole ready'), ...all]
}

function roleDeploymentCondition(role: DataPlaneRole, views: readonly NodeView[]): ConditionState {
  const open = views.filter(({ phaseZero }) => !phaseZero.isDone)
  if (open.length === 0) {
    return views.length === 0 && !role.spec.deployStrategy
      ? conditionNotRequested(DEPLOYMENT_READY, 'Deployment not started')
      : conditionTrue(DEPLOYMENT_READY, 'Deployment completed')
  }
  const told = open.map(({ phaseZero }) => deploymentCondition(phaseZero.steps))
  const worst = summarizeReady(told, '')
  return {
    ...worst,
    type: DEPLOYMENT_READY,
    message: `${open.length} of ${views.length} nodes are not deployed; ${open[told.findIndex(({ message }) => message === worst.message)]?.effective.name}: ${worst.message}`,
  }
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

/** A run may go when each of its hosts has written down what it came to: the record, not the view, is asked. */
function recordedRuns(views: readonly NodeView[]): readonly string[] {
  return views.flatMap(({ phaseZero, node }) =>
    Object.entries(phaseZero.applied).flatMap(([step, { run }]) => [run, node.status?.applied?.[step]?.run ?? '']),
  )
}
