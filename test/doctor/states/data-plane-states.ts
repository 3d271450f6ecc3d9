/** Hosts that are not deployed, or that nova does not know. */
import { bad, condition, cr, object } from '../objects.ts'
import { changed, having, type State, spec, status } from '../state.ts'

const nodeSet = 'OpenStackDataPlaneNodeSet openstack2/computes'
const deployment = 'OpenStackDataPlaneDeployment openstack2/deploy-1'
const KIND = 'dataplane.openstack.org/v1beta1/OpenStackDataPlaneDeployment'
const running = (name: string, nodeSets: readonly string[]) =>
  cr(KIND, name, { nodeSets }, [condition('Ready', 'False', 'Deployment in progress', { severity: 'Info' })])

export const dataPlaneStates: readonly State[] = [
  {
    rule: 'data-plane/deployment-failed-for-good',
    when: 'Ansible failed on a host',
    objects: changed(
      deployment,
      status({
        deployed: false,
        conditions: [bad('Ready', 'Job has reached the specified backoff limit')],
        ansibleExecutionSummaries: { 'bootstrap-deploy-1-computes': { failedHostList: ['compute-0'] } },
      }),
    ),
    about: deployment,
    says: ['on compute-0', 'backoff limit', 'stackloom hosts deploy -n openstack2 --failed'],
  },
  {
    rule: 'data-plane/change-not-deployed',
    when: 'a node set was edited after its deployment',
    objects: changed(nodeSet, status({ configHash: 'b' })),
    about: nodeSet,
    says: ['(deploy-1)', 'cannot be used again'],
  },
  {
    rule: 'data-plane/hosts-behind',
    when: 'a change was deployed with a limit',
    objects: changed(deployment, status({ deployed: true, nodeSetHashes: { computes: 'old' } })),
    about: nodeSet,
    says: ['1 of 1 hosts lacks what is declared: compute-0', 'hosts deploy --behind -n openstack2'],
  },
  {
    rule: 'data-plane/hypervisor-not-discovered',
    when: 'discover_hosts was not run',
    objects: having(object('stackloom.dev/v1alpha1/NovaHosts', 'openstack2/nova', { hosts: [] })),
    about: nodeSet,
    says: [
      'compute-0.openstack2 is deployed',
      'kubectl -n openstack2 exec nova-cell0-conductor-0 -- nova-manage cell_v2 discover_hosts',
    ],
  },
  {
    rule: 'data-plane/before-control-plane',
    when: 'a deployment was started too early',
    objects: changed(
      'OpenStackControlPlane openstack2/controlplane',
      status({ conditions: [condition('Ready', 'False', 'in progress', { severity: 'Info' })] }),
      having(running('openstack2/deploy-2', ['computes'])),
    ),
    about: 'OpenStackDataPlaneDeployment openstack2/deploy-2',
    says: ['OpenStackControlPlane openstack2/controlplane is not ready'],
  },
  {
    rule: 'data-plane/node-set-missing',
    when: 'a deployment is left from an earlier attempt',
    objects: having(running('openstack2/deploy-2', ['compute'])),
    about: 'OpenStackDataPlaneDeployment openstack2/deploy-2',
    says: ['node set compute, which does not exist', 'did you mean computes?'],
  },
  {
    rule: 'data-plane/host-twice',
    when: 'two clouds have the same machine',
    objects: ['openstack', 'openstack2'].reduce(
      (objects, namespace) =>
        changed(
          `OpenStackDataPlaneNodeSet ${namespace}/computes`,
          spec({
            nodes: {
              'compute-0': {
                hostName: `compute-0.${namespace}`,
                ansible: { ansibleHost: '192.168.122.100' },
              },
            },
          }),
          objects,
        ),
      having(),
    ),
    about: nodeSet,
    says: ['192.168.122.100 is in openstack/computes and openstack2/computes'],
  },
  {
    rule: 'data-plane/node-set-error',
    when: 'the DNS names of the hosts cannot be written',
    objects: changed(
      nodeSet,
      status({ conditions: [bad('Ready', 'x'), bad('NodeSetDNSDataReady', 'no DNSMasq is ready')] }),
    ),
    about: nodeSet,
    says: ['NodeSetDNSDataReady: no DNSMasq is ready'],
  },
  {
    rule: 'data-plane/deletion-unconfirmed',
    when: 'a namespace is deleted while Ansible configures its hosts',
    objects: having(
      object(
        'v1/Namespace',
        'openstack9',
        {
          status: {
            phase: 'Terminating',
            conditions: [
              condition('NamespaceDeletionContentFailure', 'True', 'deletion of a running deployment not allowed'),
            ],
          },
        },
        { deletionTimestamp: '2026-03-01T11:00:00Z' },
      ),
      cr(KIND, 'openstack9/deploy-2', { nodeSets: [] }, [
        condition('Ready', 'False', 'Deployment in progress', { severity: 'Info' }),
        condition('DeploymentReady', 'False', 'Deployment in progress', { severity: 'Info', reason: 'Requested' }),
      ]),
    ),
    about: 'OpenStackDataPlaneDeployment openstack9/deploy-2',
    says: ['confirm-delete=true'],
  },
  {
    rule: 'data-plane/run-stalled',
    when: 'the image of a run cannot be had',
    objects: having(
      object('ansibleee.openstack.org/v1alpha1/OpenStackAnsibleEE', 'openstack2/nova-edpm-compute-0-1', {
        status: {
          JobStatus: 'Running',
          running: {
            stalled:
              'pod nova-edpm-compute-0-1-x7k2p does not start: Back-off pulling image (SL7511: kubectl -n openstack2 describe pod x)',
          },
        },
      }),
    ),
    about: 'OpenStackAnsibleEE openstack2/nova-edpm-compute-0-1',
    says: ['makes no progress: pod nova-edpm-compute-0-1-x7k2p does not start', '(SL7511)', 'describe pod x'],
  },
  {
    rule: 'data-plane/run-failed',
    when: 'RabbitMQ refused the password of a compute node',
    objects: having(
      object(
        'ansibleee.openstack.org/v1alpha1/OpenStackAnsibleEE',
        'openstack2/nova-edpm-compute-0-1',
        {
          status: {
            JobStatus: 'Failed',
            result: {
              reason: 'Failed',
              message:
                'edpm-compute-0: Check that the service runs: RabbitMQ refuses the user and password of the transport URL: ACCESS_REFUSED (SL7148: compare the Secret)',
            },
          },
        },
        { annotations: { 'stackloom.dev/step': 'nova', 'stackloom.dev/hosts': 'edpm-compute-0' } },
      ),
    ),
    about: 'OpenStackAnsibleEE openstack2/nova-edpm-compute-0-1',
    says: ['edpm-compute-0: Check that the service runs: RabbitMQ refuses', '(SL7148)', 'compare the Secret; '],
  },
]
