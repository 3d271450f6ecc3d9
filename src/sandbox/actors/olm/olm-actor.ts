/**
 * Simulates OLM: a Subscription becomes an InstallPlan, a ClusterServiceVersion and Deployments. Like OLM it rejects unknown
 * packages and catalogs, requires exactly one OperatorGroup, and waits for manual approval.
 */
import { createHash } from 'node:crypto'
import { type Condition, formatTimestamp, type KubeObject } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Actor, ActorDeps } from '../actor.ts'
import { updateConditions } from '../actor-status.ts'
import { defaultCatalogs, type Package, packages } from './catalog-packages.ts'
import { addOperands, applyWorkloads, findUnavailable, MANAGER, workloadSpec } from './operands.ts'

const GROUP = 'operators.coreos.com'
const SUBSCRIPTION = { apiVersion: `${GROUP}/v1alpha1`, kind: 'Subscription' }
const INSTALL_PLAN = { apiVersion: `${GROUP}/v1alpha1`, kind: 'InstallPlan' }
const CSV = { apiVersion: `${GROUP}/v1alpha1`, kind: 'ClusterServiceVersion' }
const CATALOG = { apiVersion: `${GROUP}/v1alpha1`, kind: 'CatalogSource' }
const OPERATOR_GROUP = { apiVersion: `${GROUP}/v1`, kind: 'OperatorGroup' }

interface SubscriptionSpec {
  readonly name: string
  readonly source: string
  readonly sourceNamespace: string
  readonly installPlanApproval?: string
}

export const olm: Actor = {
  simulates: 'OLM and the operators it installs: Subscription to ClusterServiceVersion, operand to workloads',
  source:
    'operator-framework/api 0.40.0 (phases, conditions, reasons), the bundles of the four operators, and the waits of install_yamls',
  needs: ['kubelet'],
  addControllers: (deps: ActorDeps) => {
    const { runtime, stepMs } = deps
    const subscriptions = runtime.cache({ kind: SUBSCRIPTION })
    const inNamespace = ({ metadata }: KubeObject): readonly string[] =>
      subscriptions
        .list(metadata.namespace)
        .map((subscription) => `${metadata.namespace}/${subscription.metadata.name}`)
    runtime.add({
      name: 'actor-olm',
      watches: [
        { kind: SUBSCRIPTION },
        { kind: INSTALL_PLAN, map: inNamespace },
        { kind: OPERATOR_GROUP, map: inNamespace },
        {
          kind: CATALOG,
          map: () => subscriptions.list().map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
        },
      ],
      reconcile: async ({ namespace = '', name }, { clock }) => {
        const subscription = subscriptions.get(`${namespace}/${name}`)
        if (!subscription || subscription.metadata.deletionTimestamp) return
        const done = await install(runtime.client, subscription, formatTimestamp(clock.now()))
        return done ? undefined : { requeueAfterMs: stepMs }
      },
    })
    addOperands(deps)
  },
}

/** Advances an installation; returns true when only a user change can continue it. */
async function install(client: KubeClient, subscription: KubeObject, now: string): Promise<boolean> {
  const spec = subscription['spec'] as SubscriptionSpec
  const refusal = await resolutionError(client, subscription, spec)
  if (refusal) {
    await writeSubscription(client, subscription, { state: '' }, [['ResolutionFailed', refusal]], now)
    return true
  }
  const found = packages[spec.name] as Package
  const plan = await ensureInstallPlan(client, subscription, spec, found)
  const manual = spec.installPlanApproval === 'Manual'
  const approved = (plan['spec'] as { readonly approved?: boolean }).approved === true
  const reference = { ...INSTALL_PLAN, namespace: plan.metadata.namespace, name: plan.metadata.name }
  if (manual && !approved) {
    await writePlanStatus(client, plan, 'RequiresApproval', spec)
    const status = { state: 'UpgradePending', currentCSV: found.csv, installPlanRef: reference }
    await writeSubscription(client, subscription, status, [['InstallPlanPending', 'RequiresApproval']], now)
    return true
  }
  await writePlanStatus(client, plan, 'Complete', spec)
  const done = await installCsv(client, subscription, found, now)
  const status = { currentCSV: found.csv, installedCSV: found.csv, installPlanRef: reference }
  await writeSubscription(client, subscription, { state: 'AtLatestKnown', ...status }, [], now)
  return done
}

/** With the messages of the OLM resolver. */
async function resolutionError(
  client: KubeClient,
  { metadata }: KubeObject,
  { name, source, sourceNamespace }: SubscriptionSpec,
): Promise<string | undefined> {
  const catalog = { ...CATALOG, namespace: sourceNamespace, name: source }
  const known = defaultCatalogs.includes(source) || (await client.get(catalog)) !== undefined
  if (!known) {
    return `constraints not satisfiable: no operators found from catalog ${source} in namespace ${sourceNamespace} referenced by subscription ${metadata.name}, subscription ${metadata.name} exists`
  }
  if (name in packages) return undefined
  return `constraints not satisfiable: no operators found in package ${name} in the catalog referenced by subscription ${metadata.name}, subscription ${metadata.name} exists`
}

async function ensureInstallPlan(
  client: KubeClient,
  subscription: KubeObject,
  spec: SubscriptionSpec,
  { csv }: Package,
): Promise<KubeObject> {
  const { namespace = '', name: owner, uid = '' } = subscription.metadata
  const name = `install-${createHash('sha256').update(`${uid}${csv}`).digest('hex').slice(0, 5)}`
  const present = await client.get({ ...INSTALL_PLAN, namespace, name })
  if (present) return present
  const approval = spec.installPlanApproval ?? 'Automatic'
  const ownerReferences = [{ ...SUBSCRIPTION, name: owner, uid }]
  return client.create(
    {
      ...INSTALL_PLAN,
      metadata: { namespace, name, ownerReferences },
      spec: { approval, approved: approval !== 'Manual', clusterServiceVersionNames: [csv], generation: 1 },
    },
    { fieldManager: MANAGER },
  )
}

async function writePlanStatus(
  client: KubeClient,
  plan: KubeObject,
  phase: string,
  { source }: SubscriptionSpec,
): Promise<void> {
  if ((plan['status'] as { readonly phase?: string } | undefined)?.phase === phase) return
  const { namespace = '', name } = plan.metadata
  const status = { phase, catalogSources: [source] }
  await client.apply(
    { ...INSTALL_PLAN, metadata: { namespace, name }, status },
    { fieldManager: MANAGER, subresource: 'status' },
  )
}

/** Applies the ClusterServiceVersion and its workloads; returns true when it has succeeded or failed. */
async function installCsv(client: KubeClient, subscription: KubeObject, found: Package, now: string): Promise<boolean> {
  const { namespace = '' } = subscription.metadata
  const { name: packageName } = subscription['spec'] as SubscriptionSpec
  const version = await client.apply(
    {
      ...CSV,
      metadata: { namespace, name: found.csv, labels: { [`${GROUP}/${packageName}.${namespace}`]: '' } },
      spec: {
        displayName: packageName,
        version: found.version,
        install: { strategy: 'deployment', spec: { deployments: csvDeployments(found) } },
      },
    },
    { fieldManager: MANAGER },
  )
  const { items: groups } = await client.list(OPERATOR_GROUP, { namespace })
  if (groups.length !== 1) {
    const [reason, message] =
      groups.length === 0
        ? ['NoOperatorGroup', 'csv in namespace with no operatorgroups']
        : [
            'TooManyOperatorGroups',
            "csv created in namespace with multiple operatorgroups, can't pick one automatically",
          ]
    await writeCsvStatus(client, version, { phase: 'Failed', reason, message }, now)
    return true
  }
  const owner = { ...CSV, name: found.csv, uid: version.metadata.uid ?? '' }
  await applyWorkloads(client, found.workloads, namespace, owner)
  const waiting = await findUnavailable(client, found.workloads, namespace)
  if (waiting) {
    const status = { phase: 'Installing', reason: 'InstallWaiting', message: `installing: ${waiting}` }
    await writeCsvStatus(client, version, status, now)
    return false
  }
  const message = 'install strategy completed with no errors'
  await writeCsvStatus(client, version, { phase: 'Succeeded', reason: 'InstallSucceeded', message }, now)
  return true
}

function csvDeployments(found: Package): readonly unknown[] {
  return found.workloads
    .filter((bring) => bring.kind === 'Deployment' && !bring.namespace)
    .map((bring) => ({ name: bring.name, spec: workloadSpec(bring) }))
}

async function writeCsvStatus(
  client: KubeClient,
  version: KubeObject,
  wanted: { readonly phase: string; readonly reason: string; readonly message: string },
  now: string,
): Promise<void> {
  const before = (version['status'] ?? {}) as { readonly phase?: string; readonly message?: string }
  if (before.phase === wanted.phase && before.message === wanted.message) return
  const { namespace = '', name } = version.metadata
  const status = { ...wanted, lastTransitionTime: now, lastUpdateTime: now }
  await client.apply(
    { ...CSV, metadata: { namespace, name }, status },
    { fieldManager: MANAGER, subresource: 'status' },
  )
}

interface SubscriptionStatus {
  readonly conditions?: readonly Condition[]
  readonly lastUpdated?: string
  readonly [field: string]: unknown
}

async function writeSubscription(
  client: KubeClient,
  subscription: KubeObject,
  wanted: Readonly<Record<string, unknown>>,
  problems: readonly (readonly [type: string, message: string])[],
  now: string,
): Promise<void> {
  const before = (subscription['status'] ?? {}) as SubscriptionStatus
  const conditions = updateConditions(
    before.conditions ?? [],
    [
      ['CatalogSourcesUnhealthy', 'False', 'AllCatalogSourcesHealthy', 'all available catalogsources are healthy'],
      ...problems.map(([type, message]) => [type, 'True', conditionReason(type), message] as const),
    ],
    now,
  )
  const next = { ...wanted, conditions, lastUpdated: before.lastUpdated ?? now }
  const { namespace = '', name } = subscription.metadata
  const same = JSON.stringify(sortKeys(next)) === JSON.stringify(sortKeys(before))
  if (same) return
  await client.apply(
    { ...SUBSCRIPTION, metadata: { namespace, name }, status: { ...next, lastUpdated: now } },
    { fieldManager: MANAGER, subresource: 'status' },
  )
}

function conditionReason(type: string): string {
  return type === 'ResolutionFailed' ? 'ConstraintsNotSatisfiable' : 'RequiresApproval'
}

function sortKeys(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a.localeCompare(b)))
}
