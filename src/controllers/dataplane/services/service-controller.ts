/**
 * The service engine: brings one service object to its host, whatever the service is.
 *
 * Gathers, has the steps decided, then acts: the configuration Secret, the next run, what the control plane is told at
 * the end, the status. The record of what was done is in the status before a run may go.
 */

import { ansibleRuns } from '../../../api/ansibleee.ts'
import type { Applied } from '../../../api/dataplane.ts'
import { dataPlaneNodes } from '../../../api/dataplane-node.ts'
import { dataPlaneRoles } from '../../../api/dataplane-role.ts'
import { type KubeObject, keyOf } from '../../../api/object.ts'
import type { ServiceObject } from '../../../api/service-cr.ts'
import { missingImages } from '../../../api/service-images.ts'
import type { Controller, ReconcileContext, Reconciled, Watch } from '../../../kube/controller.ts'
import type { ServiceDefinition } from '../../../node-services/definition.ts'
import { calmly } from '../../calmly.ts'
import { appliedOf } from '../attempts.ts'
import { isTrue, isWrong, readyOf, type Told, unknown } from '../conditions.ts'
import { tellStart } from '../nodes/node-controller.ts'
import { runObject } from '../run-object.ts'
import { byNode, byRole, configMapKind, secretKind, type World } from '../world.ts'
import { writeSecret, writeStatus } from '../writes.ts'
import { configOf } from './config.ts'
import { decommission } from './decommission.ts'
import { tellControlPlane } from './duty.ts'
import { type Gathered, gather } from './gather.ts'
import { decideSteps, runsOf, type Situation, type StepDecision } from './steps.ts'

const WORKERS = 64
const CONFIG = 'ServiceConfigReady'
/** The control plane could not be told; it is asked again. */
const DUTY_PAUSE_MS = 30_000

export function serviceController(world: World, definition: ServiceDefinition): Controller {
  const cache = world.objectsOf(definition)
  const all = (namespace?: string): readonly string[] =>
    cache.list(namespace).map(({ metadata }) => keyOf(metadata))
  const ofNode = (key: string): readonly string[] =>
    cache.by(byNode, key).map(({ metadata }) => keyOf(metadata))
  const { kind: dependency, nameOf } = definition.dependency
  const dependents = ({ metadata }: KubeObject): readonly string[] =>
    cache
      .list(metadata.namespace)
      .filter((one) => nameOf(one) === metadata.name)
      .map((one) => keyOf(one.metadata))
  const watches: readonly Watch[] = [
    ...world.whole,
    { kind: definition.annotation.kind },
    { kind: dataPlaneNodes, map: ({ metadata }) => ofNode(keyOf(metadata)) },
    {
      kind: dataPlaneRoles,
      map: ({ metadata }) =>
        world.nodes.by(byRole, keyOf(metadata)).flatMap((node) => ofNode(keyOf(node.metadata))),
      isEcho: world.echoes.isEcho,
    },
    { kind: ansibleRuns, map: (run) => runConcerns(run, definition, ofNode) },
    ...(dependency.kind === 'Secret' ? [] : [{ kind: dependency, map: dependents }]),
    { kind: secretKind, map: (secret) => secretConcerns(secret, world.services, ofNode, all) },
    { kind: configMapKind, map: (map) => inventoryUsers(cache.list(map.metadata.namespace), map) },
  ]
  return {
    name: `dataplane-${definition.name}`,
    watches,
    workers: WORKERS,
    reconcile: calmly(async (request, context) => {
      const service = cache.get(keyOf(request))
      if (!service) return undefined
      if (service.metadata.deletionTimestamp) return decommission(world, definition, service, context)
      return look(world, definition, service, context)
    }),
  }
}

/** Runs of the object itself, and whatever else happens on its host. */
function runConcerns(
  run: KubeObject,
  { annotation }: ServiceDefinition,
  ofNode: (key: string) => readonly string[],
): readonly string[] {
  const { namespace = '', ownerReferences = [], annotations = {} } = run.metadata
  const owners = ownerReferences.filter(({ kind }) => kind === annotation.kind.kind)
  if (owners.length > 0) return owners.map(({ name }) => keyOf({ namespace, name }))
  const hosts = (annotations['stackloom.dev/hosts'] ?? '').split(',').filter(Boolean)
  return hosts.flatMap((name) => ofNode(keyOf({ namespace, name })))
}

/**
 * Inventories of ours concern their node's services, and configurations that we generated concern nobody; any other
 * Secret may be anybody's. Its owner tells, never its name.
 */
function secretConcerns(
  { metadata }: KubeObject,
  services: readonly ServiceDefinition[],
  ofNode: (key: string) => readonly string[],
  all: (namespace?: string) => readonly string[],
): readonly string[] {
  const { ownerReferences: owners = [] } = metadata
  const ours = owners.find(({ apiVersion }) => apiVersion === dataPlaneNodes.apiVersion)
  if (ours?.kind === dataPlaneNodes.kind)
    return ofNode(keyOf({ namespace: metadata.namespace ?? '', name: ours.name }))
  const isGenerated = services.some(({ annotation }) =>
    owners.some(
      ({ apiVersion, kind }) => apiVersion === annotation.kind.apiVersion && kind === annotation.kind.kind,
    ),
  )
  return ours || isGenerated ? [] : all(metadata.namespace)
}

function inventoryUsers(services: readonly ServiceObject[], { metadata }: KubeObject): readonly string[] {
  return services
    .filter(({ spec }) => spec.inventoryConfigMapName === metadata.name)
    .map((service) => keyOf(service.metadata))
}

async function look(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  context: ReconcileContext,
): Promise<Reconciled | undefined> {
  const { signal, clock } = context
  const { namespace = '', name } = service.metadata
  const gathered = gather(world, definition, service, clock.now())
  const config = gathered.facts && configOf(definition, service, gathered.facts)
  const configTold = configCondition(gathered, config)
  const host = service.spec.dataplaneNodeName ?? name
  const names = definition.steps.map((step) => step.name)
  const applied = appliedOf(service.status?.applied, names, host, runsOf(world, definition, namespace, host))
  const gate = gathered.gate ?? configGate(world, definition, service, configTold)
  const steps = decideSteps(world, definition, service, { gathered, applied, gate, host, now: clock.now() })
  // A run that is under way reads the configuration when it begins: what it was made for must still stand there.
  if (config?.kind === 'files' && !steps.some(({ decision }) => decision.kind === 'running')) {
    await writeSecret(world, service, definition.configSecret(name), config.files, signal)
    await startNext(world, definition, service, { gathered, steps, applied, host }, signal)
  }
  const duty = await tellControlPlane(world, definition, { service, gathered, steps, applied, host }, signal)
  const told = [...gathered.told, configTold, duty.told]
  const said = {
    told: [readyOf(told, `${definition.annotation.kind.kind} ready`), ...told],
    fields: statusFields(service, steps, duty.applied),
  }
  await writeStatus(world, world.objectsOf(definition), service, said, context)
  // Only what the stored status proves may lose its evidence.
  const proofs = (): readonly string[] => Object.values(duty.applied).map(({ run }) => run)
  await world.runs.prune(service.metadata.uid ?? '', proofs, signal)
  const pauses = steps.flatMap(({ decision }) => (decision.kind === 'pause' ? [decision.ms] : []))
  const again = [...pauses, ...(duty.failed ? [DUTY_PAUSE_MS] : [])]
  return again.length > 0 ? { requeueAfterMs: Math.min(...again) } : undefined
}

/** The hash of the last step stands for all inputs; it stays while they are not all there. */
function statusFields(
  { metadata, status }: ServiceObject,
  steps: readonly StepDecision[],
  applied: Readonly<Record<string, Applied>>,
): object {
  const input = steps.at(-1)?.hash || status?.hash?.['input']
  return {
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    ...(input && { hash: { ...status?.hash, input } }),
    ...(Object.keys(applied).length > 0 && { applied }),
  }
}

function configCondition(gathered: Gathered, config: ReturnType<typeof configOf> | undefined): Told {
  if (!config)
    return unknown(CONFIG, `Service config create not started${gathered.gate ? `: ${gathered.gate}` : ''}`)
  if (config.kind === 'files') return isTrue(CONFIG, 'Service config create completed')
  const [first] = config.findings
  return first ? isWrong(CONFIG, first) : unknown(CONFIG, 'Service config create not started')
}

function configGate(
  world: World,
  { images }: ServiceDefinition,
  { spec }: ServiceObject,
  config: Told,
): string | undefined {
  if (config.status !== 'True') return config.message
  const missing = Object.keys(missingImages(images, spec, world.env))
  return missing.length > 0 ? `Waiting for ${missing.join(', ')} to be filled in` : undefined
}

async function startNext(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  {
    gathered,
    steps,
    applied,
    host,
  }: Pick<Situation, 'gathered' | 'applied' | 'host'> & { readonly steps: readonly StepDecision[] },
  signal: AbortSignal,
): Promise<void> {
  const next = steps.find(({ decision }) => decision.kind === 'start')
  const { inventory, node } = gathered
  if (next?.decision.kind !== 'start' || !inventory || !node) return
  const { name } = service.metadata
  const { spec } = service
  const { text: _, ...source } = inventory
  const { extraMounts, env, ansibleTags, ansibleSkipTags } = node.effective.runner
  const extraVars = next.step.extraVars?.(service)
  const image = spec.ansibleEEContainerImage
  const run = runObject({
    owner: service,
    step: next.step.name,
    label: next.step.name === definition.name ? definition.name : `${definition.name}-${next.step.name}`,
    hosts: { [host]: next.hash },
    after: { [host]: applied[next.step.name]?.run ?? '' },
    attempt: next.decision.attempt,
    request: node.request,
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
  if (await world.runs.start(run, signal)) tellStart(world, service, run.metadata.name, next.step.name)
}
