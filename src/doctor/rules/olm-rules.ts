/** Operators that come by OLM: groups, subscriptions, versions. */
import type { KubeObject } from '../../api/object.ts'
import { describeCommand, findCondition, getString } from '../../api/raw-object.ts'
import { groupBy } from '../../plan/collections.ts'
import type { ClusterState } from '../cluster-state.ts'
import * as problems from '../findings/olm-findings.ts'
import { links, type Rule, rule } from '../rule.ts'

const GROUP = 'operators.coreos.com/OperatorGroup'
const SUBSCRIPTION = 'operators.coreos.com/Subscription'
const CSV = 'operators.coreos.com/ClusterServiceVersion'
const INSTALL_PLAN = 'operators.coreos.com/InstallPlan'

const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? ''

const operatorGroupTwice = rule({
  id: 'olm/operator-group-twice',
  problem: problems.operatorGroupTwice,
  looksAt: [GROUP],
  likelihood: 'proven',
  link: links.olm,
  match: (patient) =>
    [...groupBy(patient.all(GROUP), namespaceOf)].flatMap(([namespace, all]) => {
      const about = all[1]
      if (!about) return []
      return [{ about, facts: { namespace, names: all.map(({ metadata }) => metadata.name) } }]
    }),
})

const operatorGroupMissing = rule({
  id: 'olm/operator-group-missing',
  problem: problems.operatorGroupMissing,
  looksAt: [GROUP, SUBSCRIPTION],
  likelihood: 'proven',
  link: links.olm,
  match: (patient) => {
    if (!patient.knows(GROUP)) return []
    return [...groupBy(patient.all(SUBSCRIPTION), namespaceOf)].flatMap(([namespace, [about]]) =>
      about && patient.inNamespace(GROUP, namespace).length === 0 ? [{ about, facts: { namespace } }] : [],
    )
  },
})

const versionFailed = rule({
  id: 'olm/version-failed',
  problem: problems.versionFailed,
  looksAt: [CSV],
  also: [GROUP, SUBSCRIPTION, 'apps/Deployment'],
  likelihood: 'proven',
  link: links.olm,
  match: (patient) =>
    patient
      .all(CSV)
      // A copy in a namespace that the operator merely watches repeats the original.
      .filter(
        (csv) => getString(csv, 'status', 'phase') === 'Failed' && getString(csv, 'status', 'reason') !== 'Copied',
      )
      .map((about) => ({
        about,
        facts: {
          reason: getString(about, 'status', 'message') ?? getString(about, 'status', 'reason') ?? 'no reason given',
          describe: describeCommand(about),
        },
        dependsOn: [
          ...patient.inNamespace(GROUP, namespaceOf(about)),
          ...patient.inNamespace(SUBSCRIPTION, namespaceOf(about)),
          ...patient.inNamespace('apps/Deployment', namespaceOf(about)),
        ],
      })),
})

const subscriptionStuck = rule({
  id: 'olm/subscription-stuck',
  problem: problems.subscriptionStuck,
  looksAt: [SUBSCRIPTION],
  likelihood: 'proven',
  link: links.olm,
  match: (patient) =>
    patient.all(SUBSCRIPTION).flatMap((about) => {
      const trouble = ['ResolutionFailed', 'InstallPlanFailed', 'BundleUnpackFailed', 'CatalogSourcesUnhealthy']
        .map((type) => findCondition(about, type))
        .find((condition) => condition?.status === 'True')
      if (!trouble) return []
      const reason = trouble.message || trouble.reason || trouble.type
      return [{ about, facts: { reason, describe: describeCommand(about) } }]
    }),
})

const approvalWaits = rule({
  id: 'olm/approval-waits',
  problem: problems.approvalWaits,
  looksAt: [SUBSCRIPTION],
  also: [INSTALL_PLAN],
  likelihood: 'proven',
  link: links.olm,
  match: (patient) =>
    patient.all(SUBSCRIPTION).flatMap((about) => {
      const plan = getString(about, 'status', 'installPlanRef', 'name')
      if (plan === undefined || !waitsForApproval(about, plan, patient)) return []
      return [{ about, facts: { plan, namespace: namespaceOf(about) } }]
    }),
})

function waitsForApproval(subscription: KubeObject, plan: string, patient: ClusterState): boolean {
  const found = patient.get(INSTALL_PLAN, plan, namespaceOf(subscription))
  if (found) return getString(found, 'status', 'phase') === 'RequiresApproval'
  return (
    getString(subscription, 'spec', 'installPlanApproval') === 'Manual' &&
    getString(subscription, 'status', 'state') === 'UpgradePending'
  )
}

/** These watch the whole cluster; others may well be installed once for each namespace. */
const CLUSTER_WIDE = /openstack|metallb|nmstate|cert-manager/

const packageOf = (subscription: KubeObject): string =>
  getString(subscription, 'spec', 'name') ?? subscription.metadata.name

const installedTwice = rule({
  id: 'olm/installed-twice',
  problem: problems.installedTwice,
  looksAt: [SUBSCRIPTION],
  likelihood: 'proven',
  link: links.olm,
  match: (patient) =>
    [...groupBy(patient.all(SUBSCRIPTION), packageOf)].flatMap(([name, all]) => {
      const about = all[1]
      if (!about || !CLUSTER_WIDE.test(name)) return []
      return [{ about, facts: { package: name, namespaces: all.map(namespaceOf) } }]
    }),
})

export const olmRules: readonly Rule[] = [
  operatorGroupTwice,
  operatorGroupMissing,
  installedTwice,
  subscriptionStuck,
  versionFailed,
  approvalWaits,
]
