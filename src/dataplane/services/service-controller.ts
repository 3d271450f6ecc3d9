/**
 * Reconciles the objects of one service: deploys the service to the host of its node.
 *
 * Knows services only by their definitions. Gathers, decides the steps, then acts: configuration Secret, next run,
 * registration in the control plane, status. A run is deleted only after the status records its result.
 */
import { type Condition, type KubeObject, objectKey } from '../../api/object.ts'
import {
  conditionForFinding,
  conditionTrue,
  conditionUnknown,
  readyCondition,
  worstSeverity,
} from '../../controllers/kit/conditions.ts'
import { IN_THE_WAY_RESYNC_MS } from '../../controllers/kit/ownership.ts'
import { requeueOnConflict, type Writer } from '../../controllers/kit/writes.ts'
import type { Finding } from '../../errors/finding.ts'
import type { Controller, ReconcileContext, ReconcileResult, Watch } from '../../kube/controller.ts'
import type { Runtime } from '../../kube/runtime.ts'
import { byNode, byRole, configMapSource, type DataPlaneCaches, secretSource } from '../caches.ts'
import { type AnsibleRun, ansibleRuns, limitedHosts } from '../kinds/ansible-run.ts'
import { type Applied, dataPlaneNodes, dataPlaneRoles } from '../kinds/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import type { NodeViews } from '../nodes/node-view.ts'
import { previousRun, provingRuns, resolveApplied } from '../runs/attempts.ts'
import type { RunRetry } from '../runs/decide-step.ts'
import type { RunIndex } from '../runs/run-index.ts'
import type { ConfigFiles } from '../service-definitions/config-files.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import { type Environment, missingImages } from '../service-definitions/images.ts'
import { type OwnedSecrets, writeStatus } from '../writes.ts'
import { decommission } from './decommission.ts'
import type { ControlPlane } from './nova-control-plane.ts'
import { registerComputeHost } from './register-compute.ts'
import { gatherServiceState, type ServiceState } from './service-state.ts'
import {
  buildServiceConfig,
  decideSteps,
  type ServiceStepInputs,
  type ServiceStepState,
  serviceRuns,
} from './service-steps.ts'

const WORKERS = 64
const CONFIG_READY = 'ServiceConfigReady'
const REGISTRATION_RETRY_MS = 30_000

export interface ServiceControllerDeps {
  readonly client: Runtime['client']
  readonly caches: DataPlaneCaches
  readonly views: NodeViews
  readonly viewWatches: readonly Watch[]
  readonly runs: RunIndex
  readonly retry: RunRetry
  readonly services: readonly ServiceDefinition[]
  readonly controlPlane: ControlPlane
  readonly env: Environment
  readonly statusWriter: Writer
  readonly isOwnWrite: (object: KubeObject) => boolean
  readonly ownedSecrets: OwnedSecrets
}

export function serviceController(deps: ServiceControllerDeps, definition: ServiceDefinition): Controller {
  const cache = deps.caches.serviceObjects(definition)
  return {
    name: `dataplane-${definition.name}`,
    watches: serviceWatches(deps, definition),
    workers: WORKERS,
    reconcile: requeueOnConflict(async (request, context) => {
      const service = cache.get(objectKey(request))
      if (!service) return undefined
      if (service.metadata.deletionTimestamp) return decommission(deps, definition, service, context)
      return reconcileService(deps, definition, service, context)
    }),
  }
}

function serviceWatches(
  { caches, services, viewWatches, isOwnWrite }: ServiceControllerDeps,
  definition: ServiceDefinition,
): readonly Watch[] {
  const { annotation, dependency } = definition
  const cache = caches.serviceObjects(definition)
  const keys = (objects: readonly ServiceObject[]): readonly string[] =>
    objects.map(({ metadata }) => objectKey(metadata))
  const servicesOfNode = (key: string): readonly string[] => keys(cache.byIndex(byNode, key))
  const servicesOfRole = (role: KubeObject): readonly string[] =>
    caches.nodes
      .byIndex(byRole, objectKey(role.metadata))
      .flatMap(({ metadata }) => servicesOfNode(objectKey(metadata)))
  const servicesOfDependency = ({ metadata }: KubeObject): readonly string[] =>
    keys(cache.list(metadata.namespace).filter((service) => dependency.objectName(service) === metadata.name))
  const servicesOfInventory = ({ metadata }: KubeObject): readonly string[] =>
    keys(cache.list(metadata.namespace).filter(({ spec }) => spec.inventoryConfigMapName === metadata.name))
  /** The owner of the run, or every service on its hosts. */
  const servicesOfRun = (run: KubeObject): readonly string[] => {
    const { namespace = '', ownerReferences = [] } = run.metadata
    const owners = ownerReferences.filter(({ kind }) => kind === annotation.kind.kind)
    if (owners.length > 0) return owners.map(({ name }) => objectKey({ namespace, name }))
    const hosts = limitedHosts(run as AnsibleRun) ?? []
    return hosts.flatMap((name) => servicesOfNode(objectKey({ namespace, name })))
  }
  /**
   * An inventory of ours concerns the services of its node, a generated configuration none; any other Secret may be an
   * input of every service. The owner decides, never the name.
   */
  const servicesOfSecret = ({ metadata }: KubeObject): readonly string[] => {
    const { ownerReferences: owners = [], namespace } = metadata
    const dataPlaneOwner = owners.find(({ apiVersion }) => apiVersion === dataPlaneNodes.apiVersion)
    if (dataPlaneOwner?.kind === dataPlaneNodes.kind)
      return servicesOfNode(objectKey({ namespace: namespace ?? '', name: dataPlaneOwner.name }))
    const isGenerated = services.some((service) => {
      const { apiVersion, kind } = service.annotation.kind
      return owners.some((owner) => owner.apiVersion === apiVersion && owner.kind === kind)
    })
    return dataPlaneOwner || isGenerated ? [] : keys(cache.list(namespace))
  }
  return [
    ...viewWatches,
    { kind: annotation.kind },
    { kind: dataPlaneNodes, map: ({ metadata }) => servicesOfNode(objectKey(metadata)) },
    { kind: dataPlaneRoles, map: servicesOfRole, isOwnWrite },
    { kind: ansibleRuns, map: servicesOfRun },
    ...(dependency.kind.kind === 'Secret' ? [] : [{ kind: dependency.kind, map: servicesOfDependency }]),
    { ...secretSource, map: servicesOfSecret },
    { ...configMapSource, map: servicesOfInventory },
  ]
}

async function reconcileService(
  deps: ServiceControllerDeps,
  definition: ServiceDefinition,
  service: ServiceObject,
  context: ReconcileContext,
): Promise<ReconcileResult | undefined> {
  const { runs, ownedSecrets } = deps
  const { signal, clock } = context
  const { name, uid = '' } = service.metadata
  const now = clock.now()
  const state = await gatherServiceState(deps, definition, service, now, signal)
  const config = state.facts && buildServiceConfig(definition, service, state.facts)
  let configReady = configCondition(state, config)
  const host = service.spec.dataplaneNodeName ?? name
  const stepNames = definition.steps.map((step) => step.name)
  const ownRuns = serviceRuns(runs, definition, service, host)
  const applied = resolveApplied(service.status?.applied, stepNames, host, ownRuns)
  const blockedBy = state.blockedBy ?? configBlock(deps.env, definition, service, configReady)
  const steps = decideSteps(deps, definition, service, { state, applied, blockedBy, host, now })
  let isRefused = false
  // A running attempt reads the configuration when it starts: the configuration must not change before.
  if (config?.kind === 'files' && !steps.some(({ decision }) => decision.kind === 'running')) {
    const problem =
      (await ownedSecrets.write(service, definition.configSecret(name), config.files, signal)) ??
      (await startNextRun(runs, definition, service, { state, steps, applied, host }, signal))
    isRefused = problem !== undefined
    if (problem) configReady = conditionForFinding(CONFIG_READY, problem)
  }
  const inputs = { service, state, steps, applied, host }
  const registration = await registerComputeHost(deps.controlPlane, definition, inputs, signal)
  const conditions = [...state.conditions, configReady, registration.condition]
  const ready = readyCondition(conditions, worstSeverity, `${definition.annotation.kind.kind} ready`)
  const status = {
    conditions: [ready, ...conditions],
    fields: serviceStatus(service, steps, registration.applied),
  }
  await writeStatus(deps.statusWriter, deps.caches.serviceObjects(definition), service, status, context)
  await runs.prune(uid, () => provingRuns(registration.applied), signal)
  const pauses = steps.flatMap(({ decision }) => (decision.kind === 'pause' ? [decision.ms] : []))
  const delays = [
    ...pauses,
    ...(registration.failed ? [REGISTRATION_RETRY_MS] : []),
    ...(isRefused ? [IN_THE_WAY_RESYNC_MS] : []),
  ]
  return delays.length > 0 ? { requeueAfterMs: Math.min(...delays) } : undefined
}

/** The hash of the last step represents all inputs; the previous one stays while some are missing. */
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

function configCondition({ blockedBy }: ServiceState, config: ConfigFiles | undefined): Condition {
  const notStarted = 'Service config create not started'
  if (!config) return conditionUnknown(CONFIG_READY, `${notStarted}${blockedBy ? `: ${blockedBy}` : ''}`)
  if (config.kind === 'files') return conditionTrue(CONFIG_READY, 'Service config create completed')
  const [first] = config.findings
  return first ? conditionForFinding(CONFIG_READY, first) : conditionUnknown(CONFIG_READY, notStarted)
}

function configBlock(
  env: Environment,
  { images }: ServiceDefinition,
  { spec }: ServiceObject,
  config: Condition,
): string | undefined {
  if (config.status !== 'True') return config.message
  const missing = Object.keys(missingImages(images, spec, env))
  return missing.length > 0 ? `Waiting for ${missing.join(', ')} to be set` : undefined
}

async function startNextRun(
  runs: RunIndex,
  definition: ServiceDefinition,
  service: ServiceObject,
  {
    state,
    steps,
    applied,
    host,
  }: Pick<ServiceStepInputs, 'state' | 'applied' | 'host'> & { readonly steps: readonly ServiceStepState[] },
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const next = steps.find(({ decision }) => decision.kind === 'start')
  const { inventory, nodeView } = state
  if (next?.decision.kind !== 'start' || !inventory || !nodeView) return undefined
  const { spec, metadata } = service
  const { step } = next
  const { text: _, ...inventorySource } = inventory
  const { extraMounts, env, ansibleTags, ansibleSkipTags } = nodeView.effective.runner
  return runs.start(
    {
      owner: service,
      step: step.name,
      label: step.name === definition.name ? definition.name : `${definition.name}-${step.name}`,
      hosts: { [host]: next.hash },
      previousRuns: { [host]: previousRun(applied[step.name]) ?? metadata.uid ?? '' },
      attempt: next.decision.attempt,
      request: nodeView.runRequest,
      playbook: step.playbook,
      image: spec.ansibleEEContainerImage,
      extraVars: step.extraVars?.(service),
      files: {
        sshSecret: spec.sshKeySecretName ?? '',
        inventory: inventorySource,
        config: definition.configSecret(metadata.name),
      },
      runner: {
        extraMounts,
        env,
        networkAttachments: spec.networkAttachments ?? [],
        ansibleTags,
        ansibleSkipTags,
      },
      ...(spec.dnsConfig && { dnsConfig: spec.dnsConfig }),
    },
    signal,
  )
}
