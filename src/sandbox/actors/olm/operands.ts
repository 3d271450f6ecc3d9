/** Simulates the operators that OLM installed: creates the workloads of an operand and reports when they are available. */

import { type Condition, formatTimestamp, type KubeObject, type OwnerReference } from '../../../api/object.ts'
import type { CacheReader } from '../../../kube/cache.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { PAUSE_REFERENCE } from '../../images/image-table.ts'
import type { ActorDeps } from '../actor.ts'
import { updateConditions } from '../actor-status.ts'
import { type Operand, type Package, packages, type Workload } from './catalog-packages.ts'

const CSV = { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'ClusterServiceVersion' }

export function addOperands({ runtime, stepMs }: ActorDeps): void {
  const versions = runtime.cache({ kind: CSV })
  runtime.add({
    name: 'actor-operators',
    watches: [{ kind: CSV }],
    reconcile: async ({ name }) => {
      const found = Object.values(packages).find(({ csv }) => csv === name)
      const home = found && operatorNamespace(versions, found)
      if (found && home !== undefined) await createAdditions(runtime.client, found, home)
    },
  })
  for (const found of Object.values(packages)) {
    for (const operand of found.operands) {
      const objects = runtime.cache({ kind: operand.kind })
      runtime.add({
        name: `actor-olm-${operand.kind.kind.toLowerCase()}`,
        watches: [
          { kind: operand.kind },
          // An operand may exist before its operator.
          { kind: CSV, map: () => objects.list().map(objectKey) },
        ],
        reconcile: async ({ namespace, name }, { clock }) => {
          const object = objects.get(namespace ? `${namespace}/${name}` : name)
          const home = operatorNamespace(versions, found)
          if (!object || object.metadata.deletionTimestamp || home === undefined) return
          const done = await reconcileOperand(runtime.client, { object, operand, home }, formatTimestamp(clock.now()))
          return done ? undefined : { requeueAfterMs: stepMs }
        },
      })
    }
  }
}

/**
 * What an operator creates itself when it starts: Services of its webhooks, and workloads in other namespaces. Only what is
 * missing: the simulated OLM creates everything.
 */
async function createAdditions(client: KubeClient, { workloads }: Package, home: string): Promise<void> {
  const names = [...new Set(workloads.flatMap(({ namespace }) => namespace ?? []))]
  const namespaces = names.map((name): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
  const additions = workloads.flatMap((workload) =>
    renderWorkload(workload, home, undefined).filter(
      ({ kind }) => kind === 'Service' || workload.namespace !== undefined,
    ),
  )
  for (const object of [...namespaces, ...additions]) {
    const { apiVersion, kind, metadata } = object
    if (!(await client.get({ ...metadata, apiVersion, kind })))
      await client.apply(object, { fieldManager: MANAGER, force: true })
  }
}

function objectKey({ metadata }: KubeObject): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name
}

/** The namespace of the operator when it is installed. */
function operatorNamespace(versions: CacheReader, { csv }: Package): string | undefined {
  const found = versions.list().find(
    (version) =>
      version.metadata.name === csv &&
      // OLM copies the version of an operator for all namespaces into each of them.
      version.metadata.labels?.['olm.copiedFrom'] === undefined &&
      (version['status'] as { readonly phase?: string } | undefined)?.phase === 'Succeeded',
  )
  return found?.metadata.namespace
}

interface OperandRun {
  readonly object: KubeObject
  readonly operand: Operand
  readonly home: string
}

async function reconcileOperand(
  client: KubeClient,
  { object, operand, home }: OperandRun,
  now: string,
): Promise<boolean> {
  const { apiVersion, kind, metadata } = object
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }
  await applyWorkloads(client, operand.workloads, home, owner)
  const waiting = await findUnavailable(client, operand.workloads, home)
  await writeCondition(client, { object, operand, home }, waiting, now)
  return waiting === undefined
}

async function writeCondition(
  client: KubeClient,
  { object, operand }: OperandRun,
  waiting: string | undefined,
  now: string,
): Promise<void> {
  const { condition } = operand
  if (!condition) return
  const before = ((object['status'] ?? {}) as { readonly conditions?: readonly Condition[] }).conditions ?? []
  const conditions = updateConditions(
    before,
    [
      waiting === undefined
        ? [condition.type, 'True', condition.reason, condition.message]
        : [condition.type, 'False', 'Progressing', waiting],
    ],
    now,
  )
  if (JSON.stringify(conditions) === JSON.stringify(before)) return
  const { apiVersion, kind, metadata } = object
  const { name, namespace } = metadata
  await client.apply(
    { apiVersion, kind, metadata: { name, ...(namespace && { namespace }) }, status: { conditions } },
    { fieldManager: MANAGER, subresource: 'status' },
  )
}

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

/** Describes the first unavailable workload; undefined when all are available. */
export async function findUnavailable(
  client: KubeClient,
  workloads: readonly Workload[],
  namespace: string,
): Promise<string | undefined> {
  for (const workload of workloads) {
    const inNamespace = workload.namespace ?? namespace
    const ref = { apiVersion: 'apps/v1', kind: workload.kind, namespace: inNamespace, name: workload.name }
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
  // An owner must be in the namespace of its dependents.
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

/** Also used for the deployments of a ClusterServiceVersion. */
export function workloadSpec(workload: Workload): Readonly<Record<string, unknown>> {
  const labels = workloadSelector(workload)
  return {
    ...(workload.kind === 'Deployment' && { replicas: 1 }),
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'placeholder', image: PAUSE_REFERENCE }],
        tolerations: [{ operator: 'Exists' }],
      },
    },
  }
}
