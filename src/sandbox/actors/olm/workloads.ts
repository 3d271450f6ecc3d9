/** Stand-in workloads: the objects, and whether the cluster calls them available. */
import type { KubeObject, OwnerReference } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Workload } from './catalog-packages.ts'

export const MANAGER = 'actor-olm'

export async function applyWorkloads(
  client: KubeClient,
  workloads: readonly Workload[],
  namespace: string,
  owner: OwnerReference | undefined,
): Promise<void> {
  const elsewhere = new Set(workloads.flatMap((workload) => (workload.namespace ? [workload.namespace] : [])))
  for (const name of elsewhere) {
    await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { fieldManager: MANAGER })
  }
  for (const workload of workloads) {
    for (const object of renderWorkload(workload, namespace, owner)) {
      await client.apply(object, { fieldManager: MANAGER, force: true })
    }
  }
}

/** The first workload that is not available yet, in words; undefined when all are. */
export async function findUnavailable(
  client: KubeClient,
  workloads: readonly Workload[],
  namespace: string,
): Promise<string | undefined> {
  for (const workload of workloads) {
    const at = workload.namespace ?? namespace
    const ref = { apiVersion: 'apps/v1', kind: workload.kind, namespace: at, name: workload.name }
    const found = await client.get(ref)
    if (!found || !isAvailable(found)) return `waiting for ${workload.kind} ${workload.name} to become ready`
  }
  return undefined
}

interface WorkloadStatus {
  readonly availableReplicas?: number
  readonly observedGeneration?: number
  readonly desiredNumberScheduled?: number
  readonly numberAvailable?: number
}

function isAvailable(workload: KubeObject): boolean {
  const status = (workload['status'] ?? {}) as WorkloadStatus
  if ((status.observedGeneration ?? 0) < (workload.metadata.generation ?? 1)) return false
  if (workload.kind === 'Deployment') return (status.availableReplicas ?? 0) >= 1
  return (status.numberAvailable ?? 0) >= (status.desiredNumberScheduled ?? 0)
}

function renderWorkload(
  workload: Workload,
  operatorNamespace: string,
  owner: OwnerReference | undefined,
): readonly KubeObject[] {
  const { kind, name, labels, service } = workload
  const namespace = workload.namespace ?? operatorNamespace
  // An owner must live where its dependents do.
  const owned = owner && !workload.namespace ? { ownerReferences: [owner] } : {}
  const metadata = { namespace, name, labels, ...owned }
  const main: KubeObject = { apiVersion: 'apps/v1', kind, metadata, spec: workloadSpec(workload) }
  if (!service) return [main]
  return [
    main,
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...metadata, name: service },
      spec: { selector: workloadSelector(workload), ports: [{ name: 'webhook', port: 443, targetPort: 9443 }] },
    },
  ]
}

function workloadSelector({ name, labels }: Workload): Readonly<Record<string, string>> {
  return { ...labels, 'app.kubernetes.io/name': name }
}

/** Also the shape that a ClusterServiceVersion carries for each of its deployments. */
export function workloadSpec(workload: Workload): Readonly<Record<string, unknown>> {
  const labels = workloadSelector(workload)
  return {
    ...(workload.kind === 'Deployment' && { replicas: 1 }),
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'stand-in', image: `sandbox.invalid/${workload.name}:actor` }],
        tolerations: [{ operator: 'Exists' }],
      },
    },
  }
}
