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
import { applyWorkloads, findUnavailable, MANAGER, workloadSpec } from './operands.ts'

const GROUP = 'operators.coreos.com'
const SUBSCRIPTION = { apiVersion: `${GROUP}/v1alpha1`, kind: 'Subscription' }
const INSTALL_PLAN = { apiVersion: `${GROUP}/v1alpha1`, kind: 'InstallPlan' }
const CSV = { apiVersion: `${GROUP}/v1alpha1`, kind: 'ClusterServiceVersion' }
const CATALOG = { apiVersion: `${GROUP}/v1alpha1`, kind: 'CatalogSource' }
const OPERATOR_GROUP = { apiVersion: `${GROUP}/v1`, kind: 'OperatorGroup' }

interface SubscriptionSpec {
  readonly name: string
  readonly channel?: string
  readonly source: string
  readonly sourceNamespace: string
  readonly installPlanApproval?: string
}

export const olm: Actor = {
  simulates: 'OLM: Subscription to InstallPlan, ClusterServiceVersion and Deployments',
  source:
    'operator-framework/api 0.40.0 (phases, conditions, reasons), the bundles of the four operators, and the waits of install_yamls',
  needs: ['operators'],
  addControllers: ({ runtime, stepMs }: ActorDeps) => {
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
  },
}

/** Advances an installation; returns true when only a user change can continue it. */
async function install(client: KubeClient, subscription: KubeObject, now: string): Promise<boolean> {
  const spec = subscription['spec'] as SubscriptionSpec
  const found = packages[spec.name] as Package
  const { namespace = '' } = subscription.metadata
  const { items: groups } = await client.list(OPERATOR_GROUP, { namespace })
  // It resolves nothing there, and does not say so.
  if (groups.length !== 1 && !(found && (await client.get({ ...CSV, namespace, name: found.csv })))) {
    await writeSubscription(client, subscription, {}, [], now)
    return true
  }
  const problems = await resolutionProblems(client, subscription, spec)
  if (problems.length > 0) {
    await writeSubscription(client, subscription, {}, problems, now)
    return true
  }
  const plan = await ensureInstallPlan(client, subscription, spec, found)
  const manual = spec.installPlanApproval === 'Manual'
  const approved = (plan['spec'] as { readonly approved?: boolean }).approved === true
  const reference = { ...INSTALL_PLAN, namespace: plan.metadata.namespace, name: plan.metadata.name }
  if (manual && !approved) {
    await writePlanStatus(client, plan, 'RequiresApproval', spec)
    const status = { state: 'UpgradePending', currentCSV: found.csv, installPlanRef: reference }
    await writeSubscription(client, subscription, status, [['InstallPlanPending', 'RequiresApproval', undefined]], now)
    return true
  }
  await writePlanStatus(client, plan, 'Complete', spec)
  const done = await installCsv(client, subscription, found, now)
  const status = { currentCSV: found.csv, installedCSV: found.csv, installPlanRef: reference }
  await writeSubscription(client, subscription, { state: 'AtLatestKnown', ...status }, [], now)
  return done
}

type Problem = readonly [type: string, reason: string, message: string | undefined]

/** With the messages of the OLM resolver. Channels of a catalog that a user brings are not known. */
async function resolutionProblems(
  client: KubeClient,
  { metadata }: KubeObject,
  { name, channel, source, sourceNamespace }: SubscriptionSpec,
): Promise<readonly Problem[]> {
  const isDefault = defaultCatalogs.includes(source)
  const exists = isDefault || (await client.get({ ...CATALOG, namespace: sourceNamespace, name: source })) !== undefined
  const unsatisfiable = (what: string): Problem => [
    'ResolutionFailed',
    'ConstraintsNotSatisfiable',
    `constraints not satisfiable: no operators found ${what} referenced by subscription ${metadata.name}, subscription ${metadata.name} exists`,
  ]
  if (!exists) {
    const missing = `targeted catalogsource ${sourceNamespace}/${source} missing`
    const unhealthy: Problem = ['CatalogSourcesUnhealthy', 'UnhealthyCatalogSourceFound', missing]
    return [unhealthy, unsatisfiable(`from catalog ${source} in namespace ${sourceNamespace}`)]
  }
  const found = packages[name]
  if (!found) return [unsatisfiable(`in package ${name} in the catalog`)]
  const isOffered = !isDefault || channel === undefined || found.channels.includes(channel)
  return isOffered ? [] : [unsatisfiable(`in channel ${channel} of package ${name} in the catalog`)]
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

const HEALTHY = [
  'CatalogSourcesUnhealthy',
  'False',
  'AllCatalogSourcesHealthy',
  'all available catalogsources are healthy',
] as const

async function writeSubscription(
  client: KubeClient,
  subscription: KubeObject,
  wanted: Readonly<Record<string, unknown>>,
  problems: readonly Problem[],
  now: string,
): Promise<void> {
  const before = (subscription['status'] ?? {}) as SubscriptionStatus
  const conditions = updateConditions(
    before.conditions ?? [],
    [
      ...(problems.some(([type]) => type === HEALTHY[0]) ? [] : [HEALTHY]),
      ...problems.map(([type, reason, message]) => [type, 'True', reason, message] as const),
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

function sortKeys(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a.localeCompare(b)))
}
