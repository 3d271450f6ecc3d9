/**
 * What a service needs before anything is generated or run: its node, the inventory and the key, the control plane.
 *
 * Gathers from the caches. What is missing is said in upstream's words, and waited for by watch.
 */

import { type Condition, type KubeObject, objectKey } from '../../api/object.ts'
import { finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import {
  type ConditionState,
  conditionError,
  conditionTrue,
  conditionUnknown,
  conditionWaiting,
  findCondition,
} from '../conditions.ts'
import { inputMissing } from '../findings/data-plane.ts'
import type { DataPlaneNode } from '../kinds/node.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { ansibleAddress, INVENTORY_KEY, NETWORK_KEY } from '../nodes/inventory.ts'
import { buildNodeView, checkSshKey, type NodeView } from '../nodes/node-view.ts'
import type { RunFileSources } from '../runs/run-object.ts'
import type { ConfigFacts, ServiceDefinition } from '../service-definitions/definition.ts'
import { type Secret, secretValue, type World } from '../world.ts'

const INPUT_READY = 'InputReady'

export interface ServiceState {
  readonly nodeView: NodeView | undefined
  readonly inventory: (RunFileSources['inventory'] & { readonly text: string }) | undefined
  /** What the configuration is made of; absent while something is missing. */
  readonly facts: ConfigFacts | undefined
  readonly dependency: KubeObject | undefined
  readonly conditions: readonly ConditionState[]
  /** What has to come before a run, in words. */
  readonly blockedBy: string | undefined
}

export function gatherServiceState(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  now: number,
): ServiceState {
  const node = findNode(world, service)
  const view = node && buildNodeView(world, node, now)
  const inventory = findInventory(world, service)
  const input = inputCondition(world, service, node, inventory)
  const phase = phaseZeroBlock(service, view)
  const { condition: ready, object } = resolveDependency(world, definition, service)
  const open = object && ready.status === 'True' && phase === undefined
  const needed = open && view ? resolveFacts(world, definition, { service, dependency: object, view }) : undefined
  const told = [needed?.missing ?? input, ready]
  return {
    nodeView: view,
    inventory,
    facts: input.status === 'True' ? needed?.facts : undefined,
    dependency: object,
    conditions: told,
    blockedBy: phase ?? told.find(({ status }) => status !== 'True')?.message,
  }
}

function findNode(world: World, { metadata, spec }: ServiceObject): DataPlaneNode | undefined {
  const { namespace = '' } = metadata
  return spec.dataplaneNodeName ? world.nodes.get(objectKey({ namespace, name: spec.dataplaneNodeName })) : undefined
}

/** Phase 0 of the very node, with its inputs of now: that it was Ready once says nothing. */
function phaseZeroBlock({ spec }: ServiceObject, view: NodeView | undefined): string | undefined {
  if (!view) return `Waiting for OpenStackDataPlaneNode ${spec.dataplaneNodeName ?? '(none is named)'}`
  if (view.problems.length === 0 && view.machine.kind !== 'awaited' && view.phaseZero.isDone) return undefined
  return `Waiting for OpenStackDataPlaneNode ${view.effective.name} to become Ready`
}

function findInventory(world: World, { metadata, spec }: ServiceObject): ServiceState['inventory'] {
  const { namespace = '' } = metadata
  const name = spec.inventoryConfigMapName ?? ''
  const key = objectKey({ namespace, name })
  const secret = world.freshSecrets.get(key)
  const text = secretValue(secret, INVENTORY_KEY)
  if (text !== undefined) {
    return { kind: 'Secret', name, text, hasTemplate: (secret?.data?.[NETWORK_KEY] ?? '') !== '' }
  }
  const data = (world.configMaps.get(key)?.['data'] ?? {}) as Readonly<Record<string, string>>
  const plain = data[INVENTORY_KEY]
  return plain === undefined
    ? undefined
    : { kind: 'ConfigMap', name, text: plain, hasTemplate: Boolean(data[NETWORK_KEY]) }
}

function inputCondition(
  world: World,
  { metadata, spec }: ServiceObject,
  node: DataPlaneNode | undefined,
  inventory: ServiceState['inventory'],
): ConditionState {
  const { namespace = '' } = metadata
  const [problem] = checkSshKey(world, namespace, spec.sshKeySecretName ?? '')
  if (problem) return conditionError(INPUT_READY, problem)
  if (inventory) return conditionTrue(INPUT_READY, 'Input data complete')
  const name = spec.inventoryConfigMapName ?? ''
  const key = objectKey({ namespace, name })
  const there = world.secrets.get(key) ?? world.configMaps.get(key)
  // The node's own inventory comes by itself.
  if (node && !there) return conditionWaiting(INPUT_READY, `Input data resources missing: secret/${name}`)
  return conditionError(
    INPUT_READY,
    finding(inputMissing, { what: `configmap/${name}`, ...(there && { field: INVENTORY_KEY }) }),
  )
}

interface DependencyState {
  readonly condition: ConditionState
  readonly object?: KubeObject
}

function resolveDependency(world: World, { dependency }: ServiceDefinition, service: ServiceObject): DependencyState {
  const { kind, condition, objectName } = dependency
  const name = objectName(service)
  if (!name) return { condition: conditionUnknown(condition, `no ${kind.kind} is named yet`) }
  const object = world.cacheOf(kind).get(objectKey({ namespace: service.metadata.namespace ?? '', name }))
  if (!object) return { condition: conditionWaiting(condition, `Waiting for ${kind.kind} ${name}`) }
  if (kind.kind !== 'Secret' && !isReady(object)) {
    return { condition: conditionWaiting(condition, `Waiting for ${kind.kind} ${name} to become Ready`) }
  }
  return { condition: conditionTrue(condition, `${kind.kind} ${name} ready`), object }
}

/** Ready at its current generation, where it says which one it has seen. */
function isReady(object: KubeObject): boolean {
  const status = object['status'] as
    | { readonly conditions?: readonly Condition[]; readonly observedGeneration?: number }
    | undefined
  const seen = status?.observedGeneration
  return (
    findCondition(status?.conditions, 'Ready')?.status === 'True' &&
    (seen === undefined || seen === object.metadata.generation)
  )
}

function resolveFacts(
  world: World,
  definition: ServiceDefinition,
  {
    service,
    dependency,
    view,
  }: { readonly service: ServiceObject; readonly dependency: KubeObject; readonly view: NodeView },
): { readonly facts?: ConfigFacts; readonly missing?: ConditionState } {
  const { namespace = '' } = service.metadata
  const secretOf = (name: string): Secret | undefined => world.secrets.get(objectKey({ namespace, name }))
  const lacks = (secret: string, field?: string): { readonly missing: ConditionState } => ({
    missing: conditionError(INPUT_READY, finding(inputMissing, { what: `secret/${secret}`, field })),
  })
  for (const { secret, namedBy, keys } of definition.requiredSecrets(service, dependency)) {
    // Whoever names it has not come to it yet: its watch tells.
    if (secret === '')
      return { missing: conditionWaiting(INPUT_READY, `Waiting for a Secret to be named in ${namedBy}`) }
    const there = secretOf(secret)
    if (!there) return lacks(secret)
    const field = keys.find((key) => !secretValue(there, key))
    if (field !== undefined) return lacks(secret, field)
  }
  const found = definition.facts({
    service,
    dependency,
    secretValue: (secret, key) => secretValue(secretOf(secret), key) ?? '',
    hostName: view.node.spec.hostName || view.effective.name,
    address: controlPlaneAddress(view),
  })
  return found.kind === 'found' ? { facts: found.facts } : lacks(found.secret, found.field)
}

/** Its address in the control plane network: granted, written down, or the one that Ansible uses. */
function controlPlaneAddress({ addresses, effective }: NodeView): string | undefined {
  const named = [addresses['ctlplane_ip'], effective.vars['ctlplane_ip'], ansibleAddress(effective, addresses)]
  return named.find((one): one is string => typeof one === 'string' && parseAddress(one) !== undefined)
}
