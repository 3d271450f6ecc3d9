/**
 * Simulates the scheduler and the kubelets: every Pod is bound, becomes ready, and is removed when it is deleted. No container
 * runs. A Pod annotated `sandbox.stackloom.dev/never-ready: REASON` stays waiting with that reason.
 */
import { createHash } from 'node:crypto'
import { formatTimestamp, type KubeObject } from '../../api/object.ts'
import { isApiError } from '../../kube/api-error.ts'
import { type Actor, type ActorDeps, annotation } from './actor.ts'
import { attachNetworks, detachNetworks } from './multus.ts'

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
        if (!pod) return
        const path = `/api/v1/namespaces/${namespace}/pods/${name}`
        const call = { idempotent: true, subject: `Pod ${namespace}/${name}` }
        if (pod.metadata.deletionTimestamp) {
          const body = {
            apiVersion: 'v1',
            kind: 'DeleteOptions',
            gracePeriodSeconds: 0,
            preconditions: { uid: pod.metadata.uid },
          }
          await detachNetworks(runtime.client, pod)
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
        if (!(await attachNetworks(runtime.client, pod))) return { requeueAfterMs: stepMs }
        const status = runningStatus(pod, formatTimestamp(clock.now()))
        if (!status) return
        await runtime.client.apply(
          { ...POD, metadata: { namespace, name }, status },
          { fieldManager: MANAGER, subresource: 'status', force: true },
        )
        return
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

/** The status of a running pod; undefined when it is already up to date. */
function runningStatus(pod: KubeObject, now: string): Readonly<Record<string, unknown>> | undefined {
  const { phase, conditions = [] } = (pod['status'] ?? {}) as {
    readonly phase?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
  const reason = pod.metadata.annotations?.[NEVER_READY]
  const ready = reason === undefined
  const isReady = conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True')
  const reported = conditions.some((condition) => condition.type === 'ContainersReady')
  // A test or another controller may set a terminal phase, such as for a Job.
  if (phase === 'Succeeded' || phase === 'Failed' || (reported && isReady === ready)) return undefined
  const bytes = digest(pod.metadata.uid ?? '')
  const podIP = `10.244.${Number.parseInt(bytes.slice(0, 2), 16)}.${(Number.parseInt(bytes.slice(2, 4), 16) % 254) + 1}`
  const state = ready ? { running: { startedAt: now } } : { waiting: { reason, message: reason } }
  return {
    phase: ready ? 'Running' : 'Pending',
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: now,
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
      type,
      status: ready || type === 'PodScheduled' || type === 'Initialized' ? 'True' : 'False',
      lastTransitionTime: now,
    })),
    containerStatuses: (podSpec(pod).containers ?? []).map(({ name, image = '' }) => ({
      name,
      image,
      imageID: image,
      ready,
      started: ready,
      restartCount: 0,
      state,
    })),
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
