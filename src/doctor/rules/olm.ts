/** Operators that come by OLM: groups, subscriptions, versions. */
import type { KubeObject } from '../../api/object.ts'
import { conditionOf, describeCommand, textAt } from '../../api/raw-object.ts'
import * as problems from '../../errors/doctor-olm.ts'
import { groupBy } from '../../plan/group.ts'
import { links } from '../links.ts'
import type { Patient } from '../patient.ts'
import { type Rule, rule } from '../rule.ts'

const GROUP = 'operators.coreos.com/OperatorGroup'
const SUBSCRIPTION = 'operators.coreos.com/Subscription'
const CSV = 'operators.coreos.com/ClusterServiceVersion'
const INSTALL_PLAN = 'operators.coreos.com/InstallPlan'

const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? ''

const operatorGroups = rule({
  id: 'olm/operator-group-twice',
  problem: problems.operatorGroups,
  looksAt: [GROUP],
  likelihood: 'proven',
  link: links.olm,
  holds: (patient) =>
    [...groupBy(patient.all(GROUP), namespaceOf)].flatMap(([namespace, all]) => {
      const about = all[1]
      if (!about) return []
      return [{ about, facts: { namespace, names: all.map(({ metadata }) => metadata.name) } }]
    }),
})

const noOperatorGroup = rule({
  id: 'olm/operator-group-missing',
  problem: problems.noOperatorGroup,
  looksAt: [GROUP, SUBSCRIPTION],
  likelihood: 'proven',
  link: links.olm,
  holds: (patient) => {
    if (!patient.knows(GROUP)) return []
    return [...groupBy(patient.all(SUBSCRIPTION), namespaceOf)].flatMap(([namespace, [about]]) =>
      about && patient.in(GROUP, namespace).length === 0 ? [{ about, facts: { namespace } }] : [],
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
  holds: (patient) =>
    patient
      .all(CSV)
      // A copy in a namespace that the operator merely watches repeats the original.
      .filter(
        (csv) => textAt(csv, 'status', 'phase') === 'Failed' && textAt(csv, 'status', 'reason') !== 'Copied',
      )
      .map((about) => ({
        about,
        facts: {
          reason:
            textAt(about, 'status', 'message') ?? textAt(about, 'status', 'reason') ?? 'no reason given',
          describe: describeCommand(about),
        },
        restsOn: [
          ...patient.in(GROUP, namespaceOf(about)),
          ...patient.in(SUBSCRIPTION, namespaceOf(about)),
          ...patient.in('apps/Deployment', namespaceOf(about)),
        ],
      })),
})

const subscriptionStuck = rule({
  id: 'olm/subscription-stuck',
  problem: problems.subscriptionStuck,
  looksAt: [SUBSCRIPTION],
  likelihood: 'proven',
  link: links.olm,
  holds: (patient) =>
    patient.all(SUBSCRIPTION).flatMap((about) => {
      const trouble = [
        'ResolutionFailed',
        'InstallPlanFailed',
        'BundleUnpackFailed',
        'CatalogSourcesUnhealthy',
      ]
        .map((type) => conditionOf(about, type))
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
  holds: (patient) =>
    patient.all(SUBSCRIPTION).flatMap((about) => {
      const plan = textAt(about, 'status', 'installPlanRef', 'name')
      if (plan === undefined || !waitsForApproval(about, plan, patient)) return []
      return [{ about, facts: { plan, namespace: namespaceOf(about) } }]
    }),
})

function waitsForApproval(subscription: KubeObject, plan: string, patient: Patient): boolean {
  const found = patient.get(INSTALL_PLAN, plan, namespaceOf(subscription))
  if (found) return textAt(found, 'status', 'phase') === 'RequiresApproval'
  return (
    textAt(subscription, 'spec', 'installPlanApproval') === 'Manual' &&
    textAt(subscription, 'status', 'state') === 'UpgradePending'
  )
}

/** These watch the whole cluster; others may well be installed once for each namespace. */
const ONCE = /openstack|metallb|nmstate|cert-manager/

const packageOf = (subscription: KubeObject): string =>
  textAt(subscription, 'spec', 'name') ?? subscription.metadata.name

const installedTwice = rule({
  id: 'olm/installed-twice',
  problem: problems.installedTwice,
  looksAt: [SUBSCRIPTION],
  likelihood: 'proven',
  link: links.olm,
  holds: (patient) =>
    [...groupBy(patient.all(SUBSCRIPTION), packageOf)].flatMap(([name, all]) => {
      const about = all[1]
      if (!about || !ONCE.test(name)) return []
      return [{ about, facts: { package: name, namespaces: all.map(namespaceOf) } }]
    }),
})

export const olmRules: readonly Rule[] = [
  operatorGroups,
  noOperatorGroup,
  installedTwice,
  subscriptionStuck,
  versionFailed,
  approvalWaits,
]
