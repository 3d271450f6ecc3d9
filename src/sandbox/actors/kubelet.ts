/**
 * Simulates the scheduler and the kubelets: every Pod is bound, becomes ready, and is removed when it is deleted. No container
 * runs. A Pod annotated `sandbox.stackloom.dev/never-ready: REASON` stays waiting with that reason.
 */
import { createHash } from 'node:crypto'
import { formatTimestamp, type KubeObject } from '../../api/object.ts'
import { isApiError } from '../../kube/api-error.ts'
import { type Actor, type ActorDeps, annotation } from './actor.ts'
import { attachNetworks, releaseAddresses } from './multus.ts'

const POD = { apiVersion: 'v1', kind: 'Pod' }
const NODE = { apiVersion: 'v1', kind: 'Node' }
const MANAGER = 'actor-kubelet'

const NEVER_READY = annotation('never-ready')

interface PodSpec {
  readonly nodeName?: string
  readonly containers?: readonly { readonly name: string; readonly image?: string }[]
  readonly affinity?: unknown
}

export const kubelet: Actor = {
  simulates: 'the scheduler, the kubelets and Multus: Pods are bound, attached to networks and become ready',
  source: 'Kubernetes: pods/binding, the Pod lifecycle, DaemonSet pods with node affinity by name',
  needs: [],
  addControllers: ({ runtime, transport, stepMs }: ActorDeps) => {
    const pods = runtime.cache({ kind: POD })
    const nodes = runtime.cache({ kind: NODE })
    runtime.add({
      name: 'actor-kubelet',
      watches: [{ kind: POD }, { kind: NODE, map: () => pods.list().map(podKey) }],
      workers: 4,
      reconcile: async ({ namespace = '', name }, { clock }) => {
        const pod = pods.get(`${namespace}/${name}`)
        // A pod without a grace period is gone at once.
        if (!pod) return releaseAddresses(runtime.client, { metadata: { namespace, name } })
        const path = `/api/v1/namespaces/${namespace}/pods/${name}`
        const call = { idempotent: true, subject: `Pod ${namespace}/${name}` }
        if (pod.metadata.deletionTimestamp) {
          const body = {
            apiVersion: 'v1',
            kind: 'DeleteOptions',
            gracePeriodSeconds: 0,
            preconditions: { uid: pod.metadata.uid },
          }
          await releaseAddresses(runtime.client, pod)
          await transport.json({ ...call, method: 'DELETE', path, body, verb: 'delete' }).catch(ignoreGone)
          return
        }
        const node = podSpec(pod).nodeName ?? chooseNode(pod, nodes.list())
        if (node === undefined) return
        if (!podSpec(pod).nodeName) {
          const target = { ...NODE, name: node }
          const body = { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name }, target }
          await transport.json({
            ...call,
            idempotent: false,
            method: 'POST',
            path: `${path}/binding`,
            body,
            verb: 'bind',
          })
          return { requeueAfterMs: stepMs }
        }
        const isAttached = await attachNetworks(runtime.client, pod, podAddress(pod))
        const status = podStatus(pod, isAttached, formatTimestamp(clock.now()))
        if (status) {
          await runtime.client.apply(
            { ...POD, metadata: { namespace, name }, status },
            { fieldManager: MANAGER, subresource: 'status', force: true },
          )
        }
        return isAttached ? undefined : { requeueAfterMs: stepMs }
      },
    })
  },
}

function podKey({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`
}

function podSpec(pod: KubeObject): PodSpec {
  return (pod['spec'] ?? {}) as PodSpec
}

function ignoreGone(error: unknown): void {
  if (!isApiError(error, 'not-found', 'conflict')) throw error
}

/** The pod of a DaemonSet requires one node by affinity; other pods are distributed by a hash of their name. */
function chooseNode(pod: KubeObject, nodes: readonly KubeObject[]): string | undefined {
  const named = /"key":"metadata\.name","operator":"In","values":\["([^"]+)"\]/.exec(
    JSON.stringify(podSpec(pod).affinity ?? {}),
  )
  if (named) return nodes.find((node) => node.metadata.name === named[1])?.metadata.name
  const index = Number.parseInt(digest(podKey(pod)).slice(0, 8), 16) % Math.max(nodes.length, 1)
  return nodes[index]?.metadata.name
}

interface ReportedStatus {
  readonly phase?: string
  readonly conditions?: readonly { readonly type: string }[]
  readonly containerStatuses?: readonly {
    readonly state?: { readonly waiting?: { readonly reason?: string } }
  }[]
}

/** As the kubelet reports it; undefined when it is already up to date. */
function podStatus(pod: KubeObject, isAttached: boolean, now: string): Readonly<Record<string, unknown>> | undefined {
  const { phase, conditions = [], containerStatuses = [] } = (pod['status'] ?? {}) as ReportedStatus
  const waiting = isAttached ? pod.metadata.annotations?.[NEVER_READY] : 'ContainerCreating'
  const isReported = conditions.some(({ type }) => type === 'ContainersReady')
  // A test or another controller may set a terminal phase, such as for a Job.
  if (phase === 'Succeeded' || phase === 'Failed') return undefined
  if (isReported && containerStatuses[0]?.state?.waiting?.reason === waiting) return undefined
  const podIP = podAddress(pod)
  return {
    phase: waiting === undefined ? 'Running' : 'Pending',
    ...(isAttached && { podIP, podIPs: [{ ip: podIP }] }),
    startTime: now,
    conditions: podConditions(pod, isAttached, waiting === undefined).map((condition) => ({
      ...condition,
      lastTransitionTime: now,
    })),
    containerStatuses: describeContainers(pod, isAttached, waiting, now),
  }
}

function podConditions(pod: KubeObject, isAttached: boolean, isReady: boolean): readonly object[] {
  const names = (podSpec(pod).containers ?? []).map(({ name }) => name)
  const message = `containers with unready status: [${names.join(' ')}]`
  const ready = isReady ? { status: 'True' } : { status: 'False', reason: 'ContainersNotReady', message }
  return [
    { type: 'PodReadyToStartContainers', status: isAttached ? 'True' : 'False' },
    { type: 'Initialized', status: 'True' },
    { type: 'Ready', ...ready },
    { type: 'ContainersReady', ...ready },
    { type: 'PodScheduled', status: 'True' },
  ]
}

function describeContainers(
  pod: KubeObject,
  isAttached: boolean,
  waiting: string | undefined,
  now: string,
): readonly object[] {
  const isReady = waiting === undefined
  const state = isReady
    ? { running: { startedAt: now } }
    : { waiting: { reason: waiting, ...(isAttached && { message: waiting }) } }
  return (podSpec(pod).containers ?? []).map(({ name, image = '' }) => ({
    name,
    image,
    imageID: isReady ? image : '',
    ready: isReady,
    started: isReady,
    restartCount: 0,
    state,
  }))
}

/** On the pod network. */
function podAddress({ metadata }: KubeObject): string {
  const bytes = digest(metadata.uid ?? '')
  return `10.244.${Number.parseInt(bytes.slice(0, 2), 16)}.${(Number.parseInt(bytes.slice(2, 4), 16) % 254) + 1}`
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
