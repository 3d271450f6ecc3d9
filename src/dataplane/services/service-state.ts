/**
 * Gathers what a service needs before anything is generated or run: its node, inventory, SSH key and control plane.
 *
 * Reads the caches. What is missing is reported in upstream's words, and a watch reports when it appears.
 */
import { type Condition, type KubeObject, objectKey } from '../../api/object.ts'
import { findCondition } from '../../api/raw-object.ts'
import {
  conditionForFinding,
  conditionRequested,
  conditionTrue,
  conditionUnknown,
} from '../../controllers/kit/conditions.ts'
import { type FindContent, withContents } from '../../controllers/kit/contents.ts'
import { finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import { type DataPlaneCaches, type Secret, secretValue } from '../caches.ts'
import { inputMissing } from '../findings/data-plane.ts'
import type { DataPlaneNode } from '../kinds/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { ansibleAddress, INVENTORY_KEY, NETWORK_KEY } from '../nodes/inventory.ts'
import { checkSshKey, type NodeView, type NodeViews } from '../nodes/node-view.ts'
import type { RunFileSources } from '../runs/run-object.ts'
import type { ConfigFacts, ServiceDefinition } from '../service-definitions/definition.ts'

const INPUT_READY = 'InputReady'

export interface ServiceState {
  readonly nodeView: NodeView | undefined
  readonly inventory: (RunFileSources['inventory'] & { readonly text: string }) | undefined
  /** The values of the configuration; absent while something is missing. */
  readonly facts: ConfigFacts | undefined
  readonly dependency: KubeObject | undefined
  readonly conditions: readonly Condition[]
  /** What has to happen before a run. */
  readonly blockedBy: string | undefined
}

export interface ServiceStateDeps {
  readonly caches: Pick<DataPlaneCaches, 'nodes' | 'secrets' | 'configMaps' | 'ofKind'>
  readonly views: Pick<NodeViews, 'view'>
}

export async function gatherServiceState(
  { caches, views }: ServiceStateDeps,
  definition: ServiceDefinition,
  service: ServiceObject,
  now: number,
  signal: AbortSignal,
): Promise<ServiceState> {
  const node = findNode(caches, service)
  const nodeView = node && (await views.view(node, now, signal))
  return withContents((find) => resolveServiceState({ caches, find }, definition, service, nodeView), signal)
}

interface StateSources {
  readonly caches: ServiceStateDeps['caches']
  readonly find: FindContent
}

function resolveServiceState(
  deps: StateSources,
  definition: ServiceDefinition,
  service: ServiceObject,
  nodeView: NodeView | undefined,
): ServiceState {
  const inventory = findInventory(deps, service)
  const input = inputCondition(deps, service, nodeView?.node, inventory)
  const blockedByNode = phaseZeroBlock(service, nodeView)
  const { condition: ready, object } = resolveDependency(deps, definition, service)
  const canResolve = object && ready.status === 'True' && blockedByNode === undefined
  const resolved =
    canResolve && nodeView ? resolveFacts(deps, definition, { service, dependency: object, nodeView }) : undefined
  const conditions = [resolved?.missing ?? input, ready]
  return {
    nodeView,
    inventory,
    facts: input.status === 'True' ? resolved?.facts : undefined,
    dependency: object,
    conditions,
    blockedBy: blockedByNode ?? conditions.find(({ status }) => status !== 'True')?.message,
  }
}

function findNode(caches: ServiceStateDeps['caches'], { metadata, spec }: ServiceObject): DataPlaneNode | undefined {
  const { namespace = '' } = metadata
  return spec.dataplaneNodeName ? caches.nodes.get(objectKey({ namespace, name: spec.dataplaneNodeName })) : undefined
}

/** Phase 0 must be done with the current inputs: that the node was Ready once does not count. */
function phaseZeroBlock({ spec }: ServiceObject, view: NodeView | undefined): string | undefined {
  if (!view) return `Waiting for OpenStackDataPlaneNode ${spec.dataplaneNodeName ?? '(none is named)'}`
  if (view.problems.length === 0 && view.machine.kind !== 'awaited' && view.phaseZero.isDone) return undefined
  return `Waiting for OpenStackDataPlaneNode ${view.effective.name} to become Ready`
}

function findInventory({ caches, find }: StateSources, { metadata, spec }: ServiceObject): ServiceState['inventory'] {
  const { namespace = '' } = metadata
  const name = spec.inventoryConfigMapName ?? ''
  const key = objectKey({ namespace, name })
  const secret = find(caches.secrets, key)
  const text = secretValue(secret, INVENTORY_KEY)
  if (text !== undefined) {
    return { kind: 'Secret', name, text, hasTemplate: (secret?.data?.[NETWORK_KEY] ?? '') !== '' }
  }
  const data = (find(caches.configMaps, key)?.['data'] ?? {}) as Readonly<Record<string, string>>
  const plainText = data[INVENTORY_KEY]
  return plainText === undefined
    ? undefined
    : { kind: 'ConfigMap', name, text: plainText, hasTemplate: Boolean(data[NETWORK_KEY]) }
}

function inputCondition(
  { caches, find }: StateSources,
  { metadata, spec }: ServiceObject,
  node: DataPlaneNode | undefined,
  inventory: ServiceState['inventory'],
): Condition {
  const { namespace = '' } = metadata
  const [problem] = checkSshKey((key) => find(caches.secrets, key), namespace, spec.sshKeySecretName ?? '')
  if (problem) return conditionForFinding(INPUT_READY, problem)
  if (inventory) return conditionTrue(INPUT_READY, 'Input data complete')
  const name = spec.inventoryConfigMapName ?? ''
  const key = objectKey({ namespace, name })
  const source = find(caches.secrets, key) ?? find(caches.configMaps, key)
  // The node controller will write the inventory.
  if (node && !source) return conditionRequested(INPUT_READY, `Input data resources missing: secret/${name}`)
  const facts = { what: `configmap/${name}`, ...(source && { field: INVENTORY_KEY }) }
  return conditionForFinding(INPUT_READY, finding(inputMissing, facts))
}

interface DependencyState {
  readonly condition: Condition
  readonly object?: KubeObject
}

function resolveDependency(
  { caches, find }: StateSources,
  { dependency }: ServiceDefinition,
  service: ServiceObject,
): DependencyState {
  const { kind, condition: type, objectName } = dependency
  const name = objectName(service)
  if (!name) return { condition: conditionUnknown(type, `no ${kind.kind} is named yet`) }
  const key = objectKey({ namespace: service.metadata.namespace ?? '', name })
  const object = kind.kind === 'Secret' ? find<KubeObject>(caches.secrets, key) : caches.ofKind(kind).get(key)
  if (!object) return { condition: conditionRequested(type, `Waiting for ${kind.kind} ${name}`) }
  if (kind.kind !== 'Secret' && !isReady(object)) {
    return { condition: conditionRequested(type, `Waiting for ${kind.kind} ${name} to become Ready`) }
  }
  return { condition: conditionTrue(type, `${kind.kind} ${name} ready`), object }
}

/** Ready at its current generation, where the status has one. */
function isReady(object: KubeObject): boolean {
  const { generation } = object.metadata
  const status = object['status'] as { readonly observedGeneration?: number } | undefined
  const { observedGeneration = generation } = status ?? {}
  return findCondition(object, 'Ready')?.status === 'True' && observedGeneration === generation
}

interface FactInputs {
  readonly service: ServiceObject
  readonly dependency: KubeObject
  readonly nodeView: NodeView
}

function resolveFacts(
  { caches, find }: StateSources,
  definition: ServiceDefinition,
  { service, dependency, nodeView }: FactInputs,
): { readonly facts?: ConfigFacts; readonly missing?: Condition } {
  const { namespace = '' } = service.metadata
  const findSecret = (name: string): Secret | undefined => find(caches.secrets, objectKey({ namespace, name }))
  const missing = (secret: string, field?: string): { readonly missing: Condition } => ({
    missing: conditionForFinding(INPUT_READY, finding(inputMissing, { what: `secret/${secret}`, field })),
  })
  for (const { secret, namedBy, keys } of definition.requiredSecrets(service, dependency)) {
    // The operator of the dependency has not set the name yet; the watch reports when it does.
    if (secret === '')
      return { missing: conditionRequested(INPUT_READY, `Waiting for a Secret to be named in ${namedBy}`) }
    const found = findSecret(secret)
    if (!found) return missing(secret)
    const field = keys.find((key) => !secretValue(found, key))
    if (field !== undefined) return missing(secret, field)
  }
  const result = definition.facts({
    service,
    dependency,
    secretValue: (secret, key) => secretValue(findSecret(secret), key) ?? '',
    hostName: nodeView.node.spec.hostName || nodeView.effective.name,
    address: controlPlaneAddress(nodeView),
  })
  return result.kind === 'found' ? { facts: result.facts } : missing(result.secret, result.field)
}

/** The address in the control plane network: granted, set by a variable, or the one that Ansible uses. */
function controlPlaneAddress({ addresses, effective }: NodeView): string | undefined {
  const candidates = [addresses['ctlplane_ip'], effective.vars['ctlplane_ip'], ansibleAddress(effective, addresses)]
  return candidates.find(
    (candidate): candidate is string => typeof candidate === 'string' && parseAddress(candidate) !== undefined,
  )
}
