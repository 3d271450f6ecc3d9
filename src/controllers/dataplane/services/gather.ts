/**
 * What a service needs before anything is generated or run: its node, the inventory and the key, the control plane.
 *
 * Gathers from the caches. What is missing is said in upstream's words, and waited for by watch.
 */
import type { DataPlaneNode } from '../../../api/dataplane-node.ts'
import { type Condition, type KubeObject, keyOf } from '../../../api/object.ts'
import type { ServiceObject } from '../../../api/service-cr.ts'
import { inputMissing } from '../../../errors/dataplane.ts'
import { finding } from '../../../errors/finding.ts'
import { parseAddress } from '../../../net/address.ts'
import type { Facts, ServiceDefinition } from '../../../node-services/definition.ts'
import { conditionOf, isTrue, isWrong, type Told, unknown, waits } from '../conditions.ts'
import { INVENTORY_KEY, NETWORK_KEY, reachedAt } from '../inventory.ts'
import { keyProblem, type NodeView, viewOf } from '../nodes/view.ts'
import type { Files } from '../run-object.ts'
import { type Secret, secretValue, type World } from '../world.ts'

const INPUT = 'InputReady'

export interface Gathered {
  readonly node: NodeView | undefined
  readonly inventory: (Files['inventory'] & { readonly text: string }) | undefined
  /** What the configuration is made of; absent while something is missing. */
  readonly facts: Facts | undefined
  readonly dependency: KubeObject | undefined
  readonly told: readonly Told[]
  /** What has to come before a run, in words. */
  readonly gate: string | undefined
}

export function gather(
  world: World,
  definition: ServiceDefinition,
  service: ServiceObject,
  now: number,
): Gathered {
  const node = nodeOf(world, service)
  const view = node && viewOf(world, node, now)
  const inventory = inventoryOf(world, service)
  const input = inputTold(world, service, node, inventory)
  const phase = phaseGate(service, view)
  const { told: ready, object } = dependencyTold(world, definition, service)
  const open = object && ready.status === 'True' && phase === undefined
  const needed = open && view ? factsOf(world, definition, { service, dependency: object, view }) : undefined
  const told = [needed?.missing ?? input, ready]
  return {
    node: view,
    inventory,
    facts: input.status === 'True' ? needed?.facts : undefined,
    dependency: object,
    told,
    gate: phase ?? told.find(({ status }) => status !== 'True')?.message,
  }
}

function nodeOf(world: World, { metadata, spec }: ServiceObject): DataPlaneNode | undefined {
  const { namespace = '' } = metadata
  return spec.dataplaneNodeName
    ? world.nodes.get(keyOf({ namespace, name: spec.dataplaneNodeName }))
    : undefined
}

/** Phase 0 of the very node, with its inputs of now: that it was Ready once says nothing. */
function phaseGate({ spec }: ServiceObject, view: NodeView | undefined): string | undefined {
  if (!view) return `Waiting for OpenStackDataPlaneNode ${spec.dataplaneNodeName ?? '(none is named)'}`
  if (view.problems.length === 0 && view.machine.kind !== 'awaited' && view.phaseZero.holds) return undefined
  return `Waiting for OpenStackDataPlaneNode ${view.effective.name} to become Ready`
}

function inventoryOf(world: World, { metadata, spec }: ServiceObject): Gathered['inventory'] {
  const { namespace = '' } = metadata
  const name = spec.inventoryConfigMapName ?? ''
  const key = keyOf({ namespace, name })
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

function inputTold(
  world: World,
  { metadata, spec }: ServiceObject,
  node: DataPlaneNode | undefined,
  inventory: Gathered['inventory'],
): Told {
  const { namespace = '' } = metadata
  const [problem] = keyProblem(world, namespace, spec.sshKeySecretName ?? '')
  if (problem) return isWrong(INPUT, problem)
  if (inventory) return isTrue(INPUT, 'Input data complete')
  const name = spec.inventoryConfigMapName ?? ''
  const key = keyOf({ namespace, name })
  const there = world.secrets.get(key) ?? world.configMaps.get(key)
  // The node's own inventory comes by itself.
  if (node && !there) return waits(INPUT, `Input data resources missing: secret/${name}`)
  return isWrong(
    INPUT,
    finding(inputMissing, { what: `configmap/${name}`, ...(there && { field: INVENTORY_KEY }) }),
  )
}

interface Dependent {
  readonly told: Told
  readonly object?: KubeObject
}

function dependencyTold(world: World, { dependency }: ServiceDefinition, service: ServiceObject): Dependent {
  const { kind, condition, nameOf } = dependency
  const name = nameOf(service)
  if (!name) return { told: unknown(condition, `no ${kind.kind} is named yet`) }
  const object = world.cacheOf(kind).get(keyOf({ namespace: service.metadata.namespace ?? '', name }))
  if (!object) return { told: waits(condition, `Waiting for ${kind.kind} ${name}`) }
  if (kind.kind !== 'Secret' && !isReady(object)) {
    return { told: waits(condition, `Waiting for ${kind.kind} ${name} to become Ready`) }
  }
  return { told: isTrue(condition, `${kind.kind} ${name} ready`), object }
}

/** Ready at its current generation, where it says which one it has seen. */
function isReady(object: KubeObject): boolean {
  const status = object['status'] as
    | { readonly conditions?: readonly Condition[]; readonly observedGeneration?: number }
    | undefined
  const seen = status?.observedGeneration
  return (
    conditionOf(status?.conditions, 'Ready')?.status === 'True' &&
    (seen === undefined || seen === object.metadata.generation)
  )
}

function factsOf(
  world: World,
  definition: ServiceDefinition,
  {
    service,
    dependency,
    view,
  }: { readonly service: ServiceObject; readonly dependency: KubeObject; readonly view: NodeView },
): { readonly facts?: Facts; readonly missing?: Told } {
  const { namespace = '' } = service.metadata
  const secretOf = (name: string): Secret | undefined => world.secrets.get(keyOf({ namespace, name }))
  const lacks = (secret: string, field?: string): { readonly missing: Told } => ({
    missing: isWrong(INPUT, finding(inputMissing, { what: `secret/${secret}`, field })),
  })
  for (const { secret, namedBy, keys } of definition.needs(service, dependency)) {
    // Whoever names it has not come to it yet: its watch tells.
    if (secret === '') return { missing: waits(INPUT, `Waiting for a Secret to be named in ${namedBy}`) }
    const there = secretOf(secret)
    if (!there) return lacks(secret)
    const field = keys.find((key) => !secretValue(there, key))
    if (field !== undefined) return lacks(secret, field)
  }
  const found = definition.facts({
    service,
    dependency,
    valueOf: (secret, key) => secretValue(secretOf(secret), key) ?? '',
    hostName: view.node.spec.hostName || view.effective.name,
    address: addressOf(view),
  })
  return found.kind === 'found' ? { facts: found.facts } : lacks(found.secret, found.field)
}

/** Its address in the control plane network: granted, written down, or the one that Ansible uses. */
function addressOf({ addresses, effective }: NodeView): string | undefined {
  const named = [addresses['ctlplane_ip'], effective.vars['ctlplane_ip'], reachedAt(effective, addresses)]
  return named.find((one): one is string => typeof one === 'string' && parseAddress(one) !== undefined)
}
