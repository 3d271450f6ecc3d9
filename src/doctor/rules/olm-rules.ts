/** Problems of operators that OLM installs. */

import { groupBy } from '../../api/collections.ts'
import type { KubeObject } from '../../api/object.ts'
import { describeCommand, findCondition, getString } from '../../api/raw-object.ts'
import type { ClusterState } from '../cluster-state.ts'
import * as problems from '../findings/olm-findings.ts'
import { matchDuplicates, type Rule, rule } from '../rule.ts'

const GROUP = 'operators.coreos.com/OperatorGroup'
const SUBSCRIPTION = 'operators.coreos.com/Subscription'
const CSV = 'operators.coreos.com/ClusterServiceVersion'
const INSTALL_PLAN = 'operators.coreos.com/InstallPlan'

const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? ''

const operatorGroupTwice = rule({
  id: 'olm/operator-group-twice',
  problem: problems.operatorGroupTwice,
  looksAt: [GROUP],
  match: (cluster) => matchDuplicates(cluster, GROUP),
})

const operatorGroupMissing = rule({
  id: 'olm/operator-group-missing',
  problem: problems.operatorGroupMissing,
  looksAt: [GROUP, SUBSCRIPTION],
  match: (cluster) => {
    if (!cluster.knows(GROUP)) return []
    return [...groupBy(cluster.all(SUBSCRIPTION), namespaceOf)].flatMap(([namespace, [about]]) =>
      about && cluster.inNamespace(GROUP, namespace).length === 0 ? [{ about, facts: { namespace } }] : [],
    )
  },
})

const versionFailed = rule({
  id: 'olm/version-failed',
  problem: problems.versionFailed,
  looksAt: [CSV],
  also: [GROUP, SUBSCRIPTION, 'apps/Deployment'],
  match: (cluster) =>
    cluster
      .all(CSV)
      // OLM copies a ClusterServiceVersion to every watched namespace.
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
          ...cluster.inNamespace(GROUP, namespaceOf(about)),
          ...cluster.inNamespace(SUBSCRIPTION, namespaceOf(about)),
          ...cluster.inNamespace('apps/Deployment', namespaceOf(about)),
        ],
      })),
})

const subscriptionStuck = rule({
  id: 'olm/subscription-stuck',
  problem: problems.subscriptionStuck,
  looksAt: [SUBSCRIPTION],
  match: (cluster) =>
    cluster.all(SUBSCRIPTION).flatMap((about) => {
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
  match: (cluster) =>
    cluster.all(SUBSCRIPTION).flatMap((about) => {
      const plan = getString(about, 'status', 'installPlanRef', 'name')
      if (plan === undefined || !waitsForApproval(about, plan, cluster)) return []
      return [{ about, facts: { plan, namespace: namespaceOf(about) } }]
    }),
})

function waitsForApproval(subscription: KubeObject, plan: string, cluster: ClusterState): boolean {
  const found = cluster.get(INSTALL_PLAN, plan, namespaceOf(subscription))
  if (found) return getString(found, 'status', 'phase') === 'RequiresApproval'
  return (
    getString(subscription, 'spec', 'installPlanApproval') === 'Manual' &&
    getString(subscription, 'status', 'state') === 'UpgradePending'
  )
}

/** Operators that watch the whole cluster; others may be installed once per namespace. */
const CLUSTER_WIDE = /openstack|metallb|nmstate|cert-manager/

const packageOf = (subscription: KubeObject): string =>
  getString(subscription, 'spec', 'name') ?? subscription.metadata.name

const installedTwice = rule({
  id: 'olm/installed-twice',
  problem: problems.installedTwice,
  looksAt: [SUBSCRIPTION],
  match: (cluster) =>
    [...groupBy(cluster.all(SUBSCRIPTION), packageOf)].flatMap(([name, all]) => {
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
