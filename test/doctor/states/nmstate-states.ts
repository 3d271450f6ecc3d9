/** Node policies that failed, are outdated or overwrite each other. */
import { attachment, condition, enactment, object, policy } from '../objects.ts'
import { changed, having, meta, type State, without } from '../state.ts'

const failing = condition(
  'Failing',
  'True',
  `error reconciling NodeNetworkConfigurationPolicy on node worker-0 at desired state apply: "",
 failed to execute nmstatectl set --no-commit --timeout 480: 'exit status 1' '' '[2026-03-01T10:00:00Z INFO  nmstate::query_apply::net_state] Created checkpoint
[2026-03-01T10:00:01Z INFO  nmstate::query_apply::net_state] Rollbacked to checkpoint
NmstateError: InvalidArgument: Interface enp7s0 does not exist
'`,
)

export const nmstateStates: readonly State[] = [
  {
    rule: 'nmstate/policy-failed',
    when: 'a node lacks the NIC',
    objects: having(enactment('worker-0', 'openstack-worker-0', [failing])),
    about: 'NodeNetworkConfigurationPolicy openstack-worker-0',
    says: [
      'node worker-0',
      ': InvalidArgument: Interface enp7s0 does not exist',
      'kubectl get nnce worker-0.openstack-worker-0',
    ],
  },
  {
    rule: 'nmstate/policy-aborted',
    when: 'a node was waiting when another node failed',
    objects: having(enactment('worker-1', 'openstack-worker-1', [condition('Aborted', 'True', 'has aborted')])),
    about: 'NodeNetworkConfigurationEnactment worker-1.openstack-worker-1',
    says: ['another node failed first'],
  },
  {
    rule: 'nmstate/policy-not-taken',
    when: 'the handler of a node does not run',
    objects: changed('NodeNetworkConfigurationPolicy openstack2-worker-1', meta({ generation: 3 })),
    about: 'NodeNetworkConfigurationPolicy openstack2-worker-1',
    says: ['generation 1', 'at generation 3', 'spec.nodeName=worker-1'],
  },
  {
    rule: 'nmstate/policy-not-taken',
    when: 'a node has no enactment of its policy',
    objects: without('NodeNetworkConfigurationEnactment worker-1.openstack2-worker-1'),
    about: 'NodeNetworkConfigurationPolicy openstack2-worker-1',
    says: ['no enactment'],
  },
  {
    rule: 'nmstate/policy-for-nobody',
    when: 'a node was renamed',
    objects: having(policy('openstack-worker-7', 'worker-7', [])),
    about: 'NodeNetworkConfigurationPolicy openstack-worker-7',
    says: ['kubernetes.io/hostname=worker-7'],
  },
  {
    rule: 'nmstate/overwritten-by-another-cloud',
    when: "`make nncp` of the second cloud removed the first cloud's addresses",
    objects: having(
      attachment('openstack2/storage', {
        type: 'macvlan',
        master: 'enp6s0.20',
        ipam: { type: 'whereabouts', range: '172.28.0.0/24', network_name: 'openstack2-storage' },
      }),
      policy('openstack-worker-0', 'worker-0', [
        { name: 'enp6s0.20', addresses: ['172.28.0.10'] },
        { name: 'ospbr', ports: ['enp6s0'], addresses: ['192.168.17.10'] },
      ]),
      policy('openstack-worker-1', 'worker-1', [
        { name: 'enp6s0.20', addresses: ['172.17.0.11', '172.28.0.11'] },
        { name: 'ospbr', ports: ['enp6s0'], addresses: ['192.168.17.11'] },
      ]),
    ),
    about: 'NodeNetworkConfigurationPolicy openstack-worker-0',
    says: ['enp6s0.20 on node worker-0', 'openstack2 (172.28.0.0/24)', 'none of openstack (172.17.0.0/24)'],
  },
  {
    rule: 'nmstate/policies-disagree',
    when: 'two policies set the addresses of one bridge',
    objects: having(
      policy('zz-worker-0', 'worker-0', [{ name: 'ospbr', ports: ['enp6s0'], addresses: ['192.168.17.99'] }]),
      enactment('worker-0', 'zz-worker-0'),
    ),
    about: 'NodeNetworkConfigurationPolicy zz-worker-0',
    says: ['openstack-worker-0 and zz-worker-0', 'ospbr on node worker-0'],
  },
  {
    rule: 'nmstate/default-route',
    when: "a policy sets a default route on the cloud's bridge",
    objects: having(
      object('nmstate.io/v1/NodeNetworkConfigurationPolicy', 'routes', {
        spec: {
          nodeSelector: { 'kubernetes.io/hostname': 'worker-0' },
          desiredState: {
            routes: { config: [{ destination: '0.0.0.0/0', 'next-hop-interface': 'ospbr' }] },
          },
        },
      }),
      enactment('worker-0', 'routes'),
    ),
    about: 'NodeNetworkConfigurationPolicy routes',
    says: ['through ospbr'],
  },
]
