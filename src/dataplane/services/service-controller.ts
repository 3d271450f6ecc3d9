/**
 * The service engine: brings one service object to its host, whatever the service is.
 *
 * Gathers, has the steps decided, then acts: the configuration Secret, the next run, what the control plane is told at
 * the end, the status. The record of what was done is in the status before a run may go.
 */

import { type KubeObject, objectKey } from '../../api/object.ts'
import { requeueOnConflict } from '../../controllers/kit/writes.ts'
import type { Controller, ReconcileContext, ReconcileResult, Watch } from '../../kube/controller.ts'
import { type ConditionState, conditionError, conditionTrue, conditionUnknown, summarizeReady } from '../conditions.ts'
import { ansibleRuns } from '../kinds/ansible-run.ts'
import type { Applied } from '../kinds/data-plane.ts'
import { dataPlaneNodes } from '../kinds/node.ts'
import { dataPlaneRoles } from '../kinds/role.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { recordRunStarted } from '../nodes/node-controller.ts'
import { resolveApplied } from '../runs/attempts.ts'
import { buildRun } from '../runs/run-object.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import { missingImages } from '../service-definitions/images.ts'
import { byNode, byRole, configMapKind, secretKind, type World } from '../world.ts'
import { writeSecret, writeStatus } from '../writes.ts'
import { decommission } from './decommission.ts'
import { registerComputeHost } from './register-compute.ts'
import { buildServiceConfig } from './service-config.ts'
import { gatherServiceState, type ServiceState } from './service-state.ts'
import { decideSteps, type ServiceStepInputs, type ServiceStepState, serviceRuns } from './service-steps.ts'

const WORKERS = 64
const CONFIG_READY = 'ServiceConfigReady'
/** The control plane could not be told; it is asked again. */
const REGISTRATION_RETRY_MS = 30_000

export function serviceController(world: World, definition: ServiceDefinition): Controller {
  const cache = world.objectsOf(definition)
  const all = (namespace?: string): readonly string[] =>
    cache.list(namespace).map(({ metadata }) => objectKey(metadata))
  const ofNode = (key: string): readonly string[] =>
    cache.byIndex(byNode, key).map(({ metadata }) => objectKey(metadata))
  const { kind: dependency, objectName } = definition.dependency
  const dependents = ({ metadata }: KubeObject): readonly string[] =>
    cache
      .list(metadata.namespace)
      .filter((serviceObject) => objectName(serviceObject) === metadata.name)
      .map((serviceObject) => objectKey(serviceObject.metadata))
  const watches: readonly Watch[] = [
    ...world.whole,
    { kind: definition.annotation.kind },
    { kind: dataPlaneNodes, map: ({ metadata }) => ofNode(objectKey(metadata)) },
    {
      kind: dataPlaneRoles,
      map: ({ metadata }) =>
        world.nodes.byIndex(byRole, objectKey(metadata)).flatMap((node) => ofNode(objectKey(node.metadata))),
      isOwnWrite: world.echoes.has,
    },
    { kind: ansibleRuns, map: (run) => servicesForRun(run, definition, ofNode) },
    ...(dependency.kind === 'Secret' ? [] : [{ kind: dependency, map: dependents }]),
    { kind: secretKind, map: (secret) => servicesForSecret(secret, world.services, ofNode, all) },
    { kind: configMapKind, map: (map) => servicesForInventory(cache.list(map.metadata.namespace), map) },
  ]
  return {
    name: `dataplane-${definition.name}`,
    watches,
    workers: WORKERS,
    reconcile: requeueOnConflict(async (request, context) => {
      const service = cache.get(objectKey(request))
      if (!service) return undefined
      if (service.metadata.deletionTimestamp) return decommission(world, definition, service, context)
      return reconcileService(world, definition, service, context)
    }),
  }
}

/** Runs of the object itself, and whatever else happens on its host. */
function servicesForRun(
  run: KubeObject,
  { annotation }: ServiceDefinition,
  ofNode: (key: string) => readonly string[],
): readonly string[] {
  const { namespace = '', ownerReferences = [], annotations = {} } = run.metadata
  const owners = ownerReferences.filter(({ kind }) => kind === annotation.kind.kind)
  if (owners.length > 0) return owners.map(({ name }) => objectKey({ namespace, name }))
  const hosts = (annotations['stackloom.dev/hosts'] ?? '').split(',').filter(Boolean)
  return hosts.flatMap((name) => ofNode(objectKey({ namespace, name })))
}

/**
 * Inventories of ours concern their node's services, and configurations that we generated concern nobody; any other
 * Secret may be anybody's. Its owner tells, never its name.
 */
function servicesForSecret(
  { metadata }: KubeObject,
  services: readonly ServiceDefinition[],
  ofNode: (key: string) => readonly string[],
  all: (namespace?: string) => readonly string[],
): readonly string[] {
  const { ownerReferences: owners = [] } = metadata
  const ours = owners.find(({ apiVersion }) => apiVersion === dataPlaneNodes.apiVersion)
  if (ours?.kind === dataPlaneNodes.kind)
    return ofNode(objectKey({ namespace: metadata.namespace ?? '', name: ours.name }))
  const isGenerated = services.some(({ annotation }) =>
    owners.some(({ apiVersion, kind }) => apiVersion === annotation.kind.apiVersion && kind === annotation.kind.kind),
  )
  return ours || isGenerated ? [] : all(metadata.namespace)
}

function servicesForInventory(services: readonly ServiceObject[], { metadata }: KubeObject): readonly string[] {
  return services
    .filter(({ spec }) => spec.inventoryConfigMapName === metadata.name)
    .map((service) => objectKey(service.metadata))
}

async function reconcileService(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  context: ReconcileContext,
): Promise<ReconcileResult | undefined> {
  const { signal, clock } = context
  const { namespace = '', name } = service.metadata
  const gathered = gatherServiceState(world, definition, service, clock.now())
  const config = gathered.facts && buildServiceConfig(definition, service, gathered.facts)
  const configTold = configCondition(gathered, config)
  const host = service.spec.dataplaneNodeName ?? name
  const names = definition.steps.map((step) => step.name)
  const applied = resolveApplied(service.status?.applied, names, host, serviceRuns(world, definition, namespace, host))
  const gate = gathered.blockedBy ?? configBlock(world, definition, service, configTold)
  const steps = decideSteps(world, definition, service, {
    state: gathered,
    applied,
    blockedBy: gate,
    host,
    now: clock.now(),
  })
  // A run that is under way reads the configuration when it begins: what it was made for must still stand there.
  if (config?.kind === 'files' && !steps.some(({ decision }) => decision.kind === 'running')) {
    await writeSecret(world, service, definition.configSecret(name), config.files, signal)
    await startNextRun(world, definition, service, { state: gathered, steps, applied, host }, signal)
  }
  const duty = await registerComputeHost(world, definition, { service, state: gathered, steps, applied, host }, signal)
  const told = [...gathered.conditions, configTold, duty.condition]
  const said = {
    told: [summarizeReady(told, `${definition.annotation.kind.kind} ready`), ...told],
    fields: serviceStatus(service, steps, duty.applied),
  }
  await writeStatus(world, world.objectsOf(definition), service, said, context)
  // Only what the stored status proves may lose its evidence.
  const proofs = (): readonly string[] => Object.values(duty.applied).map(({ run }) => run)
  await world.runs.prune(service.metadata.uid ?? '', proofs, signal)
  const pauses = steps.flatMap(({ decision }) => (decision.kind === 'pause' ? [decision.ms] : []))
  const again = [...pauses, ...(duty.failed ? [REGISTRATION_RETRY_MS] : [])]
  return again.length > 0 ? { requeueAfterMs: Math.min(...again) } : undefined
}

/** The hash of the last step stands for all inputs; it stays while they are not all there. */
function serviceStatus(
  { metadata, status }: ServiceObject,
  steps: readonly ServiceStepState[],
  applied: Readonly<Record<string, Applied>>,
): object {
  const input = steps.at(-1)?.hash || status?.hash?.['input']
  return {
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    ...(input && { hash: { ...status?.hash, input } }),
    ...(Object.keys(applied).length > 0 && { applied }),
  }
}

function configCondition(
  gathered: ServiceState,
  config: ReturnType<typeof buildServiceConfig> | undefined,
): ConditionState {
  if (!config)
    return conditionUnknown(
      CONFIG_READY,
      `Service config create not started${gathered.blockedBy ? `: ${gathered.blockedBy}` : ''}`,
    )
  if (config.kind === 'files') return conditionTrue(CONFIG_READY, 'Service config create completed')
  const [first] = config.findings
  return first
    ? conditionError(CONFIG_READY, first)
    : conditionUnknown(CONFIG_READY, 'Service config create not started')
}

function configBlock(
  world: World,
  { images }: ServiceDefinition,
  { spec }: ServiceObject,
  config: ConditionState,
): string | undefined {
  if (config.status !== 'True') return config.message
  const missing = Object.keys(missingImages(images, spec, world.env))
  return missing.length > 0 ? `Waiting for ${missing.join(', ')} to be filled in` : undefined
}

async function startNextRun(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  {
    state,
    steps,
    applied,
    host,
  }: Pick<ServiceStepInputs, 'state' | 'applied' | 'host'> & { readonly steps: readonly ServiceStepState[] },
  signal: AbortSignal,
): Promise<void> {
  const next = steps.find(({ decision }) => decision.kind === 'start')
  const { inventory, nodeView } = state
  if (next?.decision.kind !== 'start' || !inventory || !nodeView) return
  const { name } = service.metadata
  const { spec } = service
  const { text: _, ...source } = inventory
  const { extraMounts, env, ansibleTags, ansibleSkipTags } = nodeView.effective.runner
  const extraVars = next.step.extraVars?.(service)
  const image = spec.ansibleEEContainerImage
  const run = buildRun({
    owner: service,
    step: next.step.name,
    label: next.step.name === definition.name ? definition.name : `${definition.name}-${next.step.name}`,
    hosts: { [host]: next.hash },
    previousRuns: { [host]: applied[next.step.name]?.run ?? '' },
    attempt: next.decision.attempt,
    request: nodeView.runRequest,
    playbook: {
      play: await world.playbook(next.step.playbook),
      ...(image && { image }),
      ...(extraVars && { extraVars }),
    },
    files: {
      sshSecret: spec.sshKeySecretName ?? '',
      inventory: source,
      config: definition.configSecret(name),
    },
    runner: {
      extraMounts,
      env,
      networkAttachments: spec.networkAttachments ?? [],
      ansibleTags,
      ansibleSkipTags,
    },
    ...(spec.dnsConfig && { dnsConfig: spec.dnsConfig }),
  })
  if (await world.runs.start(run, signal)) recordRunStarted(world, service, run.metadata.name, next.step.name)
}
