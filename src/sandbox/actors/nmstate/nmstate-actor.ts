/**
 * Simulates the handlers of kubernetes-nmstate: writes an enactment per matching node and the network state of the node. Where
 * nodes have interfaces, they are configured.
 * A state that nmstate would refuse fails. More failures are simulated by annotations: `nmstate-failure: MESSAGE` on a Node,
 * `nmstate-fails-on: NODE,NODE` on a policy. `nics: NIC,NIC` on a Node lists its NICs; without it any NIC exists.
 */
import { type Condition, formatTimestamp, type KubeObject } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Request } from '../../../kube/controller.ts'
import type { ConfigureNode } from '../../nodes/configure-node.ts'
import { type Actor, type ActorDeps, annotation } from '../actor.ts'
import { updateConditions } from '../actor-status.ts'
import {
  advanceNodes,
  applyDesiredState,
  enactmentConditions,
  isFinal,
  type NetworkState,
  type NodeProgress,
  type Progress,
  parseProgress,
  policyConditions,
  unavailableLimit,
} from './enactments.ts'
import { findRefusal } from './find-refusal.ts'

const POLICY = { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' }
const ENACTMENT = { apiVersion: 'nmstate.io/v1beta1', kind: 'NodeNetworkConfigurationEnactment' }
const STATE = { apiVersion: 'nmstate.io/v1beta1', kind: 'NodeNetworkState' }
const NODE = { apiVersion: 'v1', kind: 'Node' }
const MANAGER = 'actor-nmstate'
const POLICY_LABEL = 'nmstate.io/policy'

export const NODE_FAILURE = annotation('nmstate-failure')
const POLICY_FAILS_ON = annotation('nmstate-fails-on')
const NODE_NICS = annotation('nics')

export const nmstate: Actor = {
  simulates: 'kubernetes-nmstate: NodeNetworkConfigurationPolicy to enactments, conditions and NodeNetworkState',
  source: 'kubernetes-nmstate 0.86.0: controllers/handler, pkg/policyconditions, pkg/enactmentstatus',
  needs: [],
  addControllers: ({ runtime, stepMs, configureNode }: ActorDeps) => {
    const configure = configureNode && rememberConfigured(configureNode)
    const policies = runtime.cache({ kind: POLICY })
    const nodes = runtime.cache({ kind: NODE })
    const { client } = runtime
    runtime.add({
      name: 'actor-nmstate',
      watches: [
        { kind: POLICY },
        // A change of node labels affects every policy.
        { kind: NODE, map: () => policies.list().map((policy) => policy.metadata.name) },
      ],
      reconcile: async (request, { clock }) => {
        const policy = policies.get(request.name)
        if (!policy || policy.metadata.deletionTimestamp) return removeEnactments(client, request, () => false)
        const matching = nodes.list().filter((node) => matches(node, policy))
        const names = new Set(matching.map((node) => node.metadata.name))
        await removeEnactments(client, request, (node) => names.has(node))
        const done = await advancePolicy(client, policy, matching, formatTimestamp(clock.now()), configure)
        return done ? undefined : { requeueAfterMs: stepMs }
      },
    })
  },
}

interface PolicySpec {
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly maxUnavailable?: string | number
  readonly desiredState?: NetworkState
}

interface EnactmentStatus {
  readonly policyGeneration?: number
  readonly conditions?: readonly Condition[]
  readonly retryCount?: Readonly<Record<string, number>>
}

const policySpec = (policy: KubeObject): PolicySpec => (policy['spec'] ?? {}) as PolicySpec
const enactmentStatus = (object: KubeObject | undefined): EnactmentStatus =>
  (object?.['status'] ?? {}) as EnactmentStatus

function matches(node: KubeObject, policy: KubeObject): boolean {
  const labels: Readonly<Record<string, string>> = {
    'kubernetes.io/hostname': node.metadata.name,
    ...node.metadata.labels,
  }
  return Object.entries(policySpec(policy).nodeSelector ?? {}).every(([key, value]) => labels[key] === value)
}

type ConfigurePolicy = (node: KubeObject, policy: KubeObject, progress: Progress) => Promise<string | undefined>

/**
 * Configures a node when it is its turn, and once more when this program starts: the interfaces of nodes do not survive a stop
 * of the sandbox, and those of a real node do.
 */
function rememberConfigured(configureNode: ConfigureNode): ConfigurePolicy {
  const configured = new Set<string>()
  return async (node, policy, progress) => {
    const key = `${enactmentName(node, policy)} ${policy.metadata.generation}`
    const isDue = progress.kind === 'progressing' || progress.kind === 'retrying'
    if (!isDue && (progress.kind !== 'available' || configured.has(key))) return undefined
    const reason = await configureNode(node.metadata.name, policySpec(policy).desiredState ?? {})
    if (reason === undefined) configured.add(key)
    return reason
  }
}

/** Advances every node by one step; returns true when all are final. */
async function advancePolicy(
  client: KubeClient,
  policy: KubeObject,
  nodes: readonly KubeObject[],
  now: string,
  configure: ConfigurePolicy | undefined,
): Promise<boolean> {
  const generation = policy.metadata.generation ?? 1
  const enactments = await Promise.all(
    nodes.map((node) => client.get({ ...ENACTMENT, name: enactmentName(node, policy) })),
  )
  const known: NodeProgress[] = []
  for (const [index, node] of nodes.entries()) {
    known.push(await readProgress(client, node, policy, enactmentStatus(enactments[index]), configure))
  }
  const limit = unavailableLimit(policySpec(policy).maxUnavailable, nodes.length)
  const after = advanceNodes(known, limit)
  for (const [index, node] of nodes.entries()) {
    const progress = after.get(node.metadata.name)
    const before = known[index]?.before
    if (!progress || (before && isFinal(before))) continue
    await writeEnactment(client, { node, policy, progress, before: enactments[index], generation, now })
    if (progress.kind === 'available') await writeNodeState(client, node, policySpec(policy).desiredState ?? {}, now)
  }
  const all = [...after.values()]
  await writePolicyStatus(client, policy, all, now)
  return all.every(isFinal)
}

async function readProgress(
  client: KubeClient,
  node: KubeObject,
  policy: KubeObject,
  { policyGeneration, retryCount, conditions = [] }: EnactmentStatus,
  configure: ConfigurePolicy | undefined,
): Promise<NodeProgress> {
  const generation = policy.metadata.generation ?? 1
  const attempts = retryCount?.[String(generation)] ?? 0
  const before = policyGeneration === generation ? parseProgress(conditions, attempts) : undefined
  const simulated = simulatedFailure(node, policy)
  // Only a node that is being configured can fail.
  const isDue = simulated === undefined && before !== undefined && !isFinal(before)
  const refusal = isDue ? await findStateRefusal(client, node, policy) : undefined
  const isConfigured = simulated === undefined && before !== undefined && refusal === undefined
  const reason = isConfigured ? await configure?.(node, policy, before) : refusal
  return { node: node.metadata.name, before, failure: reason ? formatFailure(node, reason) : simulated }
}

function enactmentName(node: KubeObject, policy: KubeObject): string {
  return `${node.metadata.name}.${policy.metadata.name}`
}

function simulatedFailure(node: KubeObject, policy: KubeObject): string | undefined {
  const failsOn = policy.metadata.annotations?.[POLICY_FAILS_ON]?.split(',').map((name) => name.trim())
  const message = node.metadata.annotations?.[NODE_FAILURE]
  if (message === undefined && !failsOn?.includes(node.metadata.name)) return undefined
  return formatFailure(node, message ?? 'simulated failure on this node')
}

function formatFailure({ metadata: { name } }: KubeObject, reason: string): string {
  return `error reconciling NodeNetworkConfigurationPolicy on node ${name} at desired state apply: "",\n ${reason}`
}

async function findStateRefusal(
  client: KubeClient,
  { metadata }: KubeObject,
  policy: KubeObject,
): Promise<string | undefined> {
  const state = currentState(await client.get({ ...STATE, name: metadata.name }))
  const nics = metadata.annotations?.[NODE_NICS]?.split(',').map((name) => name.trim())
  return findRefusal(state, policySpec(policy).desiredState ?? {}, { nics })
}

function currentState(state: KubeObject | undefined): NetworkState {
  return ((state?.['status'] ?? {}) as { readonly currentState?: NetworkState }).currentState ?? {}
}

interface EnactmentWrite {
  readonly node: KubeObject
  readonly policy: KubeObject
  readonly progress: Progress
  readonly before: KubeObject | undefined
  readonly generation: number
  readonly now: string
}

async function writeEnactment(client: KubeClient, write: EnactmentWrite): Promise<void> {
  const { node, policy, progress, before, generation, now } = write
  const { name: nodeName, uid = '' } = node.metadata
  const name = enactmentName(node, policy)
  if (!before) {
    const metadata = {
      name,
      labels: { [POLICY_LABEL]: policy.metadata.name, 'nmstate.io/node': nodeName },
      ownerReferences: [{ ...NODE, name: nodeName, uid }],
    }
    await client.apply({ ...ENACTMENT, metadata }, { fieldManager: MANAGER })
  }
  const attempts = progress.kind === 'retrying' ? progress.attempts : undefined
  const old = enactmentStatus(before)
  const status = {
    policyGeneration: generation,
    desiredState: policySpec(policy).desiredState ?? {},
    conditions: updateConditions(old.conditions ?? [], enactmentConditions(nodeName, progress), now),
    ...(attempts !== undefined && { retryCount: { [String(generation)]: attempts } }),
  }
  await client.apply({ ...ENACTMENT, metadata: { name }, status }, { fieldManager: MANAGER, subresource: 'status' })
}

async function writeNodeState(client: KubeClient, node: KubeObject, desired: NetworkState, now: string): Promise<void> {
  const { name, uid = '' } = node.metadata
  const present = await client.get({ ...STATE, name })
  if (!present) {
    const metadata = { name, ownerReferences: [{ ...NODE, name, uid }] }
    await client.apply({ ...STATE, metadata }, { fieldManager: MANAGER })
  }
  const status = { currentState: applyDesiredState(currentState(present), desired), lastSuccessfulUpdateTime: now }
  await client.apply({ ...STATE, metadata: { name }, status }, { fieldManager: MANAGER, subresource: 'status' })
}

async function writePolicyStatus(
  client: KubeClient,
  policy: KubeObject,
  progress: readonly Progress[],
  now: string,
): Promise<void> {
  const before = enactmentStatus(policy).conditions ?? []
  const conditions = updateConditions(before, policyConditions(progress), now)
  if (JSON.stringify(conditions) === JSON.stringify(before)) return
  const { name } = policy.metadata
  await client.apply(
    { ...POLICY, metadata: { name }, status: { conditions } },
    { fieldManager: MANAGER, subresource: 'status' },
  )
}

/** Removes enactments of a policy that was deleted or no longer matches; its configuration stays on the node. */
async function removeEnactments(client: KubeClient, { name }: Request, keep: (node: string) => boolean): Promise<void> {
  const { items } = await client.list(ENACTMENT, { labelSelector: `${POLICY_LABEL}=${name}` })
  for (const { metadata } of items) {
    if (!keep(metadata.labels?.['nmstate.io/node'] ?? '')) await client.delete({ ...ENACTMENT, name: metadata.name })
  }
}
