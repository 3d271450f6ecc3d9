/**
 * Implements `stackloom operator uninstall`: deletes what `operator install` applied, and nothing else.
 *
 * The webhooks go first, so that no write is refused meanwhile, and the rights after the pods. A CRD is deleted with its
 * objects, so it stays unless that was requested.
 */
import { type KubeObject, objectKey } from '../../api/object.ts'
import { isAppliedBy, isManagedByStackloom } from '../../api/ownership.ts'
import { systemClock } from '../../clock/clock.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import type { KubeClient } from '../../kube/client.ts'
import { uninstallNeedsYes } from '../../operator/findings.ts'
import { OPERATOR_NAMESPACE } from '../../operator/manifests.ts'
import { collectCrds, parts } from '../../operator/parts.ts'
import { SECRET_NAME } from '../../webhooks/serving-certificate.ts'
import { type ClusterFlags, openCluster } from '../cluster.ts'
import type { Io } from '../io.ts'
import { type Format, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { confirmByName } from '../questions.ts'
import { FIELD_MANAGER } from './install.ts'

export interface UninstallOptions extends ClusterFlags {
  readonly deleteCrds?: boolean
  readonly deleteObjects?: boolean
  readonly yes?: boolean
  readonly output: Format
}

type Outcome = 'deleted' | 'kept'

interface Uninstalled {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly outcome: Outcome
  /** Why it was kept. */
  readonly reason?: string
}

const SELECTOR = 'app.kubernetes.io/name=stackloom-operator'

/** In the order in which they are deleted. */
const kinds = [
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' },
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
  { apiVersion: 'v1', kind: 'ServiceAccount' },
]

export async function uninstall(options: UninstallOptions, io: Io): Promise<ExitCode> {
  const connection = await openCluster(options, io)
  const { client } = connection
  const namespace = options.namespace ?? OPERATOR_NAMESPACE
  try {
    if (!options.yes && !(await confirmByName('Uninstall the operator from this cluster?', namespace, io))) {
      throw failure(uninstallNeedsYes, {}, { exitCode: 2 })
    }
    const results: Uninstalled[] = []
    for (const kind of kinds) {
      const { items } = await client.list(kind, { labelSelector: SELECTOR, signal: io.stop })
      for (const item of items.filter((object) => isOfInstallation(object, namespace))) {
        results.push(await deleteApplied(client, { ...item, ...kind }, io.stop))
      }
      if (kind.kind === 'Deployment') await waitForPods(client, namespace, io.stop)
    }
    results.push(...(await deleteNamespace(client, namespace, io.stop)))
    if (options.deleteCrds || options.deleteObjects) results.push(...(await deleteCrds(client, options, io.stop)))
    const rows = results.map(({ kind, name, outcome, reason = '' }) => [outcome, kind, name, reason])
    const table = (): string => formatTable(['OUTCOME', 'KIND', 'NAME', 'REASON'], rows, io.columns, io.colour.stdout)
    io.stdout(options.output === 'table' ? table() : await serialiseResult({ uninstalled: results }, options.output))
    return 0
  } finally {
    await connection.close()
  }
}

/** Longer than a pod of the operator takes to end; one on a node that does not answer never does. */
const PODS_END_MS = 90_000

/** A pod that ends still releases its Lease and finishes writes: it loses its rights afterwards. */
async function waitForPods(client: KubeClient, namespace: string, signal: AbortSignal): Promise<void> {
  const deadline = systemClock.elapsed() + PODS_END_MS
  while (systemClock.elapsed() < deadline) {
    const { items } = await client.list(
      { apiVersion: 'v1', kind: 'Pod' },
      { namespace, labelSelector: SELECTOR, signal },
    )
    if (items.length === 0) return
    await systemClock.sleep(500, signal)
  }
}

/** Another installation may be in another namespace; roles are in every served namespace, and name theirs. */
function isOfInstallation(object: KubeObject, namespace: string): boolean {
  const subjects = object['subjects'] as readonly { readonly namespace?: string }[] | undefined
  if (subjects) return subjects.some((subject) => subject.namespace === namespace)
  return object.kind === 'Role' || [undefined, namespace].includes(object.metadata.namespace)
}

async function deleteApplied(client: KubeClient, object: KubeObject, signal: AbortSignal): Promise<Uninstalled> {
  const { apiVersion, kind, metadata } = object
  const { name, namespace, uid } = metadata
  const result = { apiVersion, kind, name: objectKey(metadata) }
  if (!isAppliedBy(object, FIELD_MANAGER)) {
    return { ...result, outcome: 'kept', reason: '`operator install` did not apply it' }
  }
  const ref = { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
  // Background: the pods of the Deployment are deleted too.
  await client.delete(ref, { propagation: 'Background', signal, ...(uid && { preconditions: { uid } }) })
  return { ...result, outcome: 'deleted' }
}

const contentKinds = [
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'apps/v1', kind: 'StatefulSet' },
  { apiVersion: 'apps/v1', kind: 'DaemonSet' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'v1', kind: 'ConfigMap' },
  { apiVersion: 'v1', kind: 'Secret' },
  { apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
]

/** What the cluster or the operator itself puts into a namespace. */
function isExpected({ kind, metadata, ...object }: KubeObject): boolean {
  if (metadata.deletionTimestamp !== undefined || isManagedByStackloom({ metadata })) return true
  if (kind === 'ConfigMap') return ['kube-root-ca.crt', 'openshift-service-ca.crt'].includes(metadata.name)
  const isAccountSecret = ['kubernetes.io/service-account-token', 'kubernetes.io/dockercfg'].includes(
    String(object['type']),
  )
  return kind === 'Secret' && (metadata.name === SECRET_NAME || isAccountSecret)
}

async function deleteNamespace(client: KubeClient, name: string, signal: AbortSignal): Promise<readonly Uninstalled[]> {
  const ref = { apiVersion: 'v1', kind: 'Namespace', name }
  const namespace = await client.get(ref, { signal })
  if (!namespace) return []
  const lists = await Promise.all(contentKinds.map((kind) => client.list(kind, { namespace: name, signal })))
  const other = lists.flatMap(({ items }) => items).find((object) => !isExpected(object))
  if (!other) return [await deleteApplied(client, namespace, signal)]
  return [{ ...ref, outcome: 'kept', reason: `${other.kind} ${other.metadata.name} is in it` }]
}

async function deleteCrds(
  client: KubeClient,
  { deleteObjects = false }: UninstallOptions,
  signal: AbortSignal,
): Promise<readonly Uninstalled[]> {
  const crds = collectCrds(parts)
  const results: Uninstalled[] = []
  for (const { apiVersion, kind, metadata, ...definition } of [...crds.own, ...crds.upstream]) {
    const { name } = metadata
    const crd = await client.get({ apiVersion, kind, name }, { signal })
    if (!crd) continue
    const { group, names, versions } = definition['spec'] as {
      readonly group: string
      readonly names: { readonly kind: string }
      readonly versions: readonly { readonly name: string }[]
    }
    const served = { apiVersion: `${group}/${versions[0]?.name}`, kind: names.kind }
    const { items } = await client.list(served, { limit: 500, metadataOnly: true, signal })
    const hasObjects = items.length > 0 && !deleteObjects
    if (hasObjects) {
      const reason = `the cluster has ${items.length} of its objects`
      results.push({ apiVersion, kind, name, outcome: 'kept', reason })
    } else results.push(await deleteApplied(client, crd, signal))
  }
  return results
}
