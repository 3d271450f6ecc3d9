/** The cluster itself. */
import type { KubeObject } from '../../../src/api/object.ts'
import { bad, condition, crashing, event, NOW, object } from '../objects.ts'
import { changed, having, meta, type State, status } from '../state.ts'

const since = '2026-03-01T10:00:00Z'
const daysFromNow = (days: number): string => new Date(NOW + days * 86_400_000).toISOString()
const claim = object('v1/PersistentVolumeClaim', 'openstack2/mysql-db-openstack-galera-0', {
  spec: { storageClassName: 'local' },
  status: { phase: 'Pending' },
})

/** A pod on worker-1 that works. */
function podOf(owner: string, name: string, phase: string): KubeObject {
  return object(
    'v1/Pod',
    name,
    { spec: { nodeName: 'worker-1' }, status: { phase, conditions: [condition('Ready', 'True')] } },
    { ownerReferences: [{ apiVersion: 'v1', kind: owner, name: 'owner', uid: 'uid-owner' }] },
  )
}

export const kubernetesStates: readonly State[] = [
  {
    rule: 'kubernetes/stuck-finalizer',
    when: 'the operator of an object was removed first',
    objects: changed(
      'KeystoneAPI openstack2/keystone',
      meta({ deletionTimestamp: since, finalizers: ['openstack.org/keystoneapi'] }),
    ),
    about: 'KeystoneAPI openstack2/keystone',
    says: [
      'waits for keystone-operator to remove openstack.org/keystoneapi',
      'no such operator runs',
      '"finalizers":null',
    ],
  },
  {
    rule: 'kubernetes/stuck-finalizer',
    when: 'the operator runs but does not remove its finalizer',
    objects: changed(
      'IPSet openstack2/compute-0',
      meta({ deletionTimestamp: since, finalizers: ['openstack.org/ipset'] }),
    ),
    about: 'IPSet openstack2/compute-0',
    says: ['waits for infra-operator', 'check the log of infra-operator'],
  },
  {
    rule: 'kubernetes/namespace-terminating',
    when: 'a namespace was deleted before the cloud in it',
    objects: having(
      object(
        'v1/Namespace',
        'openstack9',
        {
          status: {
            phase: 'Terminating',
            conditions: [condition('NamespaceContentRemaining', 'True', 'pods. has 1 resource instances')],
          },
        },
        { deletionTimestamp: since },
      ),
    ),
    about: 'Namespace openstack9',
    says: ['pods. has 1 resource instances'],
  },
  {
    rule: 'kubernetes/api-unavailable',
    when: 'the server of an aggregated API is down',
    objects: having(
      object('apiregistration.k8s.io/v1/APIService', 'v1beta1.metrics.k8s.io', {
        status: { conditions: [condition('Available', 'False', 'no response')] },
      }),
    ),
    about: 'APIService v1beta1.metrics.k8s.io',
    says: ['no response'],
  },
  {
    rule: 'kubernetes/node-not-ready',
    when: 'a node stopped reporting',
    objects: changed(
      'Node worker-1',
      status({ conditions: [condition('Ready', 'Unknown', 'Kubelet stopped posting node status')] }),
    ),
    about: 'Node worker-1',
    says: ['Kubelet stopped posting'],
  },
  {
    rule: 'kubernetes/node-not-ready',
    when: 'a node was lost with pods that only its end replaces: the run of one of them follows from it',
    objects: changed(
      'Node worker-1',
      status({ conditions: [condition('Ready', 'Unknown', 'Kubelet stopped posting node status')] }),
      having(
        podOf('StatefulSet', 'openstack2/rabbitmq-server-1', 'Running'),
        podOf('Job', 'openstack2/nova-edpm-compute-0-1-x7k2p', 'Running'),
        podOf('Job', 'openstack2/nova-db-sync-4lzq2', 'Succeeded'),
        podOf('ReplicaSet', 'openstack2/keystone-7c9d-abcde', 'Running'),
        object('ansibleee.openstack.org/v1alpha1/OpenStackAnsibleEE', 'openstack2/nova-edpm-compute-0-1', {
          status: {
            JobStatus: 'Running',
            running: { stalled: 'node worker-1 does not answer (SL7510: bring it back)' },
          },
        }),
      ),
    ),
    about: 'Node worker-1',
    says: [
      'until it answers: openstack2/nova-edpm-compute-0-1-x7k2p, openstack2/rabbitmq-server-1',
      'for good: `kubectl taint node worker-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute',
    ],
  },
  {
    rule: 'kubernetes/node-agent-missing',
    when: "MetalLB's speaker does not run on every node",
    objects: having(
      object('apps/v1/DaemonSet', 'metallb-system/speaker', {
        status: { observedGeneration: 1, desiredNumberScheduled: 2, numberAvailable: 1 },
      }),
    ),
    about: 'DaemonSet metallb-system/speaker',
    says: ['1 of 2 pods'],
  },
  {
    rule: 'kubernetes/pod-cannot-run',
    when: 'galera crashes: the error of the control plane follows from it',
    objects: changed(
      'OpenStackControlPlane openstack2/controlplane',
      status({
        conditions: [
          bad('Ready', 'galera is not ready'),
          bad('OpenStackControlPlaneMariaDBReady', 'galera is not ready'),
        ],
      }),
      having(crashing('openstack2/openstack-galera-0')),
    ),
    about: 'Pod openstack2/openstack-galera-0',
    says: ['container galera', 'exit code 1', 'logs openstack-galera-0 -c galera --previous'],
  },
  {
    rule: 'kubernetes/pod-unschedulable',
    when: 'no node has enough memory',
    objects: having(
      object('v1/Pod', 'openstack2/openstack-galera-1', {
        status: {
          phase: 'Pending',
          conditions: [
            condition('PodScheduled', 'False', '0/3 nodes are available: 3 Insufficient memory', {
              reason: 'Unschedulable',
            }),
          ],
        },
      }),
    ),
    about: 'Pod openstack2/openstack-galera-1',
    says: ['3 Insufficient memory'],
  },
  {
    rule: 'kubernetes/claim-not-served',
    when: 'no volume is free',
    objects: having(claim, event(claim, 'FailedBinding', 'no persistent volumes available for this claim')),
    about: 'PersistentVolumeClaim openstack2/mysql-db-openstack-galera-0',
    says: ['no persistent volumes available'],
  },
  {
    rule: 'kubernetes/no-default-storage-class',
    when: 'a claim has no class and the cluster has no default class',
    objects: changed(
      'StorageClass local',
      meta({ annotations: {} }),
      having(
        object('v1/PersistentVolumeClaim', 'openstack2/mysql-db-openstack-galera-0', {
          spec: {},
          status: { phase: 'Pending' },
        }),
      ),
    ),
    about: 'PersistentVolumeClaim openstack2/mysql-db-openstack-galera-0',
    says: ['none is the default', 'annotate storageclass local'],
  },
  {
    rule: 'kubernetes/certificate-not-issued',
    when: 'the issuer is missing',
    objects: having(
      object('cert-manager.io/v1/Certificate', 'openstack2/keystone', {
        status: { conditions: [condition('Ready', 'False', 'Issuer not found')] },
      }),
    ),
    about: 'Certificate openstack2/keystone',
    says: ['Issuer not found', 'kubectl -n openstack2 describe certificate'],
  },
  {
    rule: 'kubernetes/certificate-ends-soon',
    when: 'a certificate is past its renewal',
    objects: having(
      object('cert-manager.io/v1/Certificate', 'openstack2/keystone', {
        spec: { issuerRef: { name: 'rootca-internal' } },
        status: { notAfter: daysFromNow(12), renewalTime: daysFromNow(-18) },
      }),
    ),
    about: 'Certificate openstack2/keystone',
    says: ['in 12 days', 'rootca-internal has not renewed it', 'kubectl -n openstack2 describe certificate'],
  },
  {
    rule: 'kubernetes/certificate-ends-soon',
    when: 'an application credential was not replaced',
    objects: having(
      object('keystone.openstack.org/v1beta1/KeystoneApplicationCredential', 'openstack2/ac-barbican', {
        status: { expiresAt: daysFromNow(12), rotationEligibleAt: daysFromNow(-170) },
      }),
    ),
    about: 'KeystoneApplicationCredential openstack2/ac-barbican',
    says: ['in 12 days', 'keystone-operator has not renewed it', 'Keystone answers'],
  },
  {
    rule: 'kubernetes/certificate-critical',
    when: 'a certificate has ended',
    objects: having(
      object('cert-manager.io/v1/Certificate', 'openstack2/keystone', {
        spec: { issuerRef: { name: 'rootca-internal' } },
        status: { notAfter: daysFromNow(-2), renewalTime: daysFromNow(-32) },
      }),
    ),
    about: 'Certificate openstack2/keystone',
    says: ['it ended 2 days ago'],
  },
]
