/** Operators that OLM could not install. */
import { condition, object } from '../objects.ts'
import { changed, having, type State, status, without } from '../state.ts'

const csv = 'ClusterServiceVersion openstack-operators/openstack-operator.v1'
const subscription = 'Subscription openstack-operators/openstack-operator'

export const olmStates: readonly State[] = [
  {
    rule: 'olm/operator-group-twice',
    when: 'a second group exists: the failed version follows from it',
    objects: changed(
      csv,
      status({
        phase: 'Failed',
        reason: 'TooManyOperatorGroups',
        message: 'csv created in namespace with multiple operatorgroups',
      }),
      having(object('operators.coreos.com/v1/OperatorGroup', 'openstack-operators/second')),
    ),
    about: 'OperatorGroup openstack-operators/second',
    says: ['openstack and second', 'delete operatorgroup second'],
  },
  {
    rule: 'olm/operator-group-missing',
    when: 'the group was deleted',
    objects: without('OperatorGroup openstack-operators/openstack'),
    about: subscription,
    says: ['openstack-operators has no OperatorGroup'],
  },
  {
    rule: 'olm/version-failed',
    when: 'a version could not be installed',
    objects: changed(csv, status({ phase: 'Failed', message: 'install timeout' })),
    about: csv,
    says: ['install timeout', 'kubectl -n openstack-operators describe clusterserviceversion'],
  },
  {
    rule: 'olm/subscription-stuck',
    when: 'the catalog does not have the package',
    objects: changed(
      subscription,
      status({
        conditions: [condition('ResolutionFailed', 'True', 'constraints not satisfiable: no operators found')],
      }),
    ),
    about: subscription,
    says: ['no operators found'],
  },
  {
    rule: 'olm/approval-waits',
    when: 'the install plan is not approved',
    objects: changed(
      subscription,
      status({ installPlanRef: { name: 'install-1' }, state: 'UpgradePending' }),
      having(
        object('operators.coreos.com/v1alpha1/InstallPlan', 'openstack-operators/install-1', {
          status: { phase: 'RequiresApproval' },
        }),
      ),
    ),
    about: subscription,
    says: ['patch installplan install-1'],
  },
  {
    rule: 'olm/installed-twice',
    when: 'a second Subscription exists in a cloud',
    objects: having(
      object('operators.coreos.com/v1/OperatorGroup', 'openstack2/group'),
      object('operators.coreos.com/v1alpha1/Subscription', 'openstack2/openstack-operator', {
        spec: { name: 'openstack-operator' },
      }),
    ),
    about: 'Subscription openstack2/openstack-operator',
    says: ['openstack-operators and openstack2'],
  },
]
