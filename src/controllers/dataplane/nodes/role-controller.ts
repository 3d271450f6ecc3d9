/**
 * The role controller: one inventory for all nodes of a role, and runs that serve many of them at once.
 *
 * One run of a role at a time. It takes every host that is ready for the earliest step; hosts that failed come again by
 * themselves, hosts that were added meanwhile come with the next one.
 */

import { ansibleRuns, hasEnded } from '../../../api/ansibleee.ts'
import type { RunnerSettings } from '../../../api/dataplane-inheritance.ts'
import { dataPlaneNodes } from '../../../api/dataplane-node.ts'
import { type DataPlaneRole, type DataPlaneRoleStatus, dataPlaneRoles } from '../../../api/dataplane-role.ts'
import { dataPlaneServices } from '../../../api/dataplane-service.ts'
import { ipSets } from '../../../api/ipset.ts'
import { type KubeObject, keyOf } from '../../../api/object.ts'
import type { Controller, ReconcileContext, Reconciled } from '../../../kube/controller.ts'
import { calmly } from '../../calmly.ts'
import { dnsMasqs } from '../../dns/kinds.ts'
import { isTrue, isWrong, notRequested, readyOf, type Told, waits } from '../conditions.ts'
import { roleHostText, roleInventory, roleInventoryName } from '../inventory.ts'
import { remembered } from '../remembered.ts'
import { runObject } from '../run-object.ts'
import { byHost, byRole, bySource, configMapKind, secretKind, sourcesNamed, type World } from '../world.ts'
import { writeMetadata, writeSecret, writeStatus } from '../writes.ts'
import { playbookOf, tellStart } from './node-controller.ts'
import type { RunnableStep } from './phase-zero.ts'
import { DEPLOYMENT, deploymentTold, MACHINE, SETUP } from './status.ts'
import { type NodeView, viewOf } from './view.ts'

const WORKERS = 8
/** More hosts in one run would make its annotations too large to store. */
const MOST_HOSTS = 500
const DATA_PLANE_LABEL = 'openstackdataplane'

export function roleController(world: World): Controller {
  const hostText: HostText = remembered(({ effective, node, addresses }) =>
    roleHostText(effective, node, addresses),
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
    reconcile: calmly(async (request, context) => {
      // Nodes change in crowds: one look after a moment serves them all.
      await context.clock.sleep(world.settleMs, context.signal)
      const role = world.roles.get(keyOf(request))
      if (!role || role.metadata.deletionTimestamp) return undefined
      return look(world, role, hostText, context)
    }),
  }
}

function roleKeys({ metadata, ...node }: KubeObject): readonly string[] {
  const { role } = node['spec'] as { role?: string }
  return role ? [keyOf({ namespace: metadata.namespace ?? '', name: role })] : []
}

function rolesIn(world: World, { metadata }: KubeObject): readonly string[] {
  return world.roles.list(metadata.namespace).map((role) => keyOf(role.metadata))
}

/** Those whose runs are given this Secret or ConfigMap. */
function rolesOfSource(world: World, { metadata }: KubeObject): readonly string[] {
  const own = world.nodes.by(bySource, keyOf(metadata)).flatMap(roleKeys)
  const roles = world.roles
    .list(metadata.namespace)
    .filter(({ spec }) => sourcesNamed(spec.nodeTemplate, spec.env).includes(metadata.name))
  return [...own, ...roles.map((role) => keyOf(role.metadata))]
}

function rolesOfHost(world: World, { metadata }: KubeObject): readonly string[] {
  return world.nodes.by(byHost, keyOf(metadata)).flatMap(roleKeys)
}

function ownerKeys({ metadata }: KubeObject): readonly string[] {
  return (metadata.ownerReferences ?? [])
    .filter(({ kind }) => kind === dataPlaneRoles.kind)
    .map(({ name }) => keyOf({ namespace: metadata.namespace ?? '', name }))
}

type HostText = (view: NodeView) => string

async function look(
  world: World,
  stored: DataPlaneRole,
  hostText: HostText,
  context: ReconcileContext,
): Promise<Reconciled | undefined> {
  const { signal, clock } = context
  const role = await writeMetadata(world, world.roles, stored, labelsOf(stored), signal)
  const { uid = '', name } = role.metadata
  const nodes = world.nodes
    .by(byRole, keyOf(role.metadata))
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  const views = nodes.map((node) => viewOf(world, node, clock.now()))
  const running = world.runs.ofOwner(uid).find((run) => !hasEnded(run))
  if (!running) {
    const files = roleInventory(role, views.filter(isFit).map(hostText))
    await writeSecret(world, role, roleInventoryName(name), { ...files }, signal)
    await startRun(world, role, views, signal)
  }
  const said = { told: roleConditions(role, views), fields: roleStatus(role, views) }
  await writeStatus(world, world.roles, role, said, context)
  await world.runs.prune(uid, () => proofsIn(views), signal)
  const pauses = views.filter(({ effective }) => effective.deployedBy === 'role').flatMap(pausesOf)
  return pauses.length > 0 ? { requeueAfterMs: Math.min(...pauses) } : undefined
}

function labelsOf({ metadata, spec }: DataPlaneRole): Partial<KubeObject['metadata']> {
  const { labels = {} } = metadata
  if (!spec.dataPlane || labels[DATA_PLANE_LABEL] === spec.dataPlane) return {}
  return { labels: { ...labels, [DATA_PLANE_LABEL]: spec.dataPlane } }
}

/** What Ansible is told of a host is known. */
function isFit({ problems, network }: NodeView): boolean {
  return problems.length === 0 && network.kind !== 'awaited'
}

function pausesOf({ phaseZero }: NodeView): readonly number[] {
  return phaseZero.steps.flatMap(({ decision }) => (decision.kind === 'pause' ? [decision.ms] : []))
}

interface Crowd {
  readonly step: RunnableStep
  readonly runner: RunnerSettings
  readonly request: string | undefined
  readonly hosts: Record<string, string>
  readonly after: Record<string, string>
  attempt: number
}

/** The hosts that can go together: the same step, run in the same way. The earliest step first. */
function nextCrowd(services: readonly string[], views: readonly NodeView[]): Crowd | undefined {
  const crowds = new Map<string, Crowd>()
  for (const { effective, request, phaseZero } of views) {
    const { next } = phaseZero
    if (!next || effective.deployedBy !== 'role') continue
    const key = JSON.stringify([services.indexOf(next.step.name), request, effective.runner])
    const crowd: Crowd = crowds.get(key) ?? {
      step: next.step,
      runner: effective.runner,
      request,
      hosts: {},
      after: {},
      attempt: 1,
    }
    crowds.set(key, crowd)
    if (Object.keys(crowd.hosts).length >= MOST_HOSTS) continue
    crowd.hosts[effective.name] = next.hash
    crowd.after[effective.name] = next.after
    crowd.attempt = Math.max(crowd.attempt, next.attempt)
  }
  return [...crowds.values()]
    .toSorted((a, b) => services.indexOf(a.step.name) - services.indexOf(b.step.name))
    .at(0)
}

async function startRun(
  world: World,
  role: DataPlaneRole,
  views: readonly NodeView[],
  signal: AbortSignal,
): Promise<void> {
  const crowd = nextCrowd(role.spec.services ?? [], views)
  if (!crowd) return
  const { sshSecret, ...runner } = crowd.runner
  const { name } = role.metadata
  const run = runObject({
    owner: role,
    step: crowd.step.name,
    label: crowd.step.label,
    hosts: crowd.hosts,
    after: crowd.after,
    attempt: crowd.attempt,
    request: crowd.request,
    playbook: await playbookOf(world, crowd.step),
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
  if (await world.runs.start(run, signal)) tellStart(world, role, run.metadata.name, crowd.step.name)
}

function roleConditions(role: DataPlaneRole, views: readonly NodeView[]): readonly Told[] {
  const broken = views.find(({ problems }) => problems.length > 0)
  const [problem] = broken?.problems ?? []
  const setup = problem ? isWrong(SETUP, problem) : isTrue(SETUP, 'Setup complete')
  const machines = views.filter(({ machine }) => machine.kind !== 'not-needed')
  const awaited = machines.filter(({ machine }) => machine.kind === 'awaited')
  const provisioned =
    machines.length === 0
      ? []
      : [
          awaited.length === 0
            ? isTrue(`Role${MACHINE}`, 'Machines provisioned')
            : waits(`Role${MACHINE}`, `${awaited.length} of ${machines.length} machines are awaited`),
        ]
  const all = [setup, ...provisioned, deployedTold(role, views)]
  return [readyOf(all, 'DataPlaneRole ready'), ...all]
}

function deployedTold(role: DataPlaneRole, views: readonly NodeView[]): Told {
  const open = views.filter(({ phaseZero }) => !phaseZero.holds)
  if (open.length === 0) {
    return views.length === 0 && !role.spec.deployStrategy
      ? notRequested(DEPLOYMENT, 'Deployment not started')
      : isTrue(DEPLOYMENT, 'Deployment completed')
  }
  const told = open.map(({ phaseZero }) => deploymentTold(phaseZero.steps))
  const worst = readyOf(told, '')
  return {
    ...worst,
    type: DEPLOYMENT,
    message: `${open.length} of ${views.length} nodes are not deployed; ${open[told.findIndex(({ message }) => message === worst.message)]?.effective.name}: ${worst.message}`,
  }
}

function roleStatus(
  role: DataPlaneRole,
  views: readonly NodeView[],
): Omit<DataPlaneRoleStatus, 'conditions'> {
  const { generation, name } = role.metadata
  const ready = views.filter(({ problems, phaseZero }) => problems.length === 0 && phaseZero.holds)
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    inventorySecretName: roleInventoryName(name),
    nodes: views.length,
    readyNodes: ready.length,
    deployed: (role.status?.deployed ?? false) || (views.length > 0 && ready.length === views.length),
  }
}

/** A run may go when each of its hosts has written down what it came to: the record, not the view, is asked. */
function proofsIn(views: readonly NodeView[]): readonly string[] {
  return views.flatMap(({ phaseZero, node }) =>
    Object.entries(phaseZero.applied).flatMap(([step, { run }]) => [
      run,
      node.status?.applied?.[step]?.run ?? '',
    ]),
  )
}
