/** Control planes that do not become ready. */
import type { KubeObject } from '../../../src/api/object.ts'
import { formatLastBackup, LAST_BACKUP } from '../../../src/backup/last-backup.ts'
import { healthy } from '../healthy-cluster.ts'
import { bad, condition, cr, crashing, event, NOW, object, requests, service } from '../objects.ts'
import { changed, having, type State, spec, status, without } from '../state.ts'

const cp = 'OpenStackControlPlane openstack2/controlplane'
const failed = (message: string) =>
  status({ conditions: [bad('Ready', message), bad('OpenStackControlPlaneExposeServiceReady', message)] })

const volume = 'PersistentVolumeClaim openstack2/mysql-db-openstack-galera-0'
const keystone = 'KeystoneAPI openstack2/keystone'

/** Galera's pod cannot be scheduled, and its claim is pending. */
function galeraWaits(reason: string): readonly KubeObject[] {
  const held = condition('PodScheduled', 'False', reason, { reason: 'Unschedulable' })
  return changed(
    volume,
    status({ phase: 'Pending' }),
    changed('Pod openstack2/openstack-galera-0', status({ phase: 'Pending', conditions: [held] })),
  )
}
const unbound = galeraWaits('0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims')
const dbWaits = status({
  conditions: [condition('DBReady', 'False', 'DB create job still running', { severity: 'Info' })],
})

export const controlPlaneStates: readonly State[] = [
  {
    rule: 'control-plane/secret-missing',
    when: 'osp-secret does not exist',
    objects: changed(cp, failed('Secret osp-secret not found'), without('Secret openstack2/osp-secret')),
    about: 'Secret openstack2/osp-secret',
    says: ['OpenStackControlPlane openstack2/controlplane refers to it', 'stackloom up --stage secrets'],
  },
  {
    rule: 'control-plane/secret-missing',
    when: 'the SSH key of the hosts is missing',
    objects: without('Secret openstack2/ssh'),
    about: 'Secret openstack2/ssh',
    says: ['OpenStackDataPlaneNodeSet openstack2/computes', 'Ansible cannot log in'],
  },
  {
    rule: 'control-plane/secret-key-missing',
    when: 'heat was enabled later: its missing keys cause the error of the control plane',
    objects: changed(cp, (one) =>
      failed("heat: field 'HeatPassword' not found in Secret osp-secret")(spec({ heat: { enabled: true } })(one)),
    ),
    about: 'Secret openstack2/osp-secret',
    says: ['no HeatPassword, HeatAuthEncryptionKey, which heat reads'],
  },
  {
    rule: 'control-plane/held-in-stage',
    when: 'a restore ended before it removed the annotation',
    objects: changed(cp, (one) => ({
      ...one,
      metadata: { ...one.metadata, annotations: { 'core.openstack.org/deployment-stage': 'infrastructure-only' } },
    })),
    about: cp,
    says: ['held in the deployment stage infrastructure-only', 'core.openstack.org/deployment-stage-'],
  },
  {
    rule: 'control-plane/backup-old',
    when: 'a cloud was last backed up 45 days ago',
    objects: changed(cp, (one) => ({
      ...one,
      metadata: {
        ...one.metadata,
        annotations: { [LAST_BACKUP]: formatLastBackup({ name: 'rhoso2-1', time: NOW - 45 * 86_400_000 }) },
      },
    })),
    about: cp,
    says: ['its last backup rhoso2-1 is 45 days old', 'stackloom backup -n openstack2'],
  },
  {
    rule: 'control-plane/condition-error',
    when: 'a control plane has an error of its own',
    objects: changed(cp, failed('exposing the services failed')),
    about: cp,
    says: ['OpenStackControlPlaneExposeServiceReady: exposing the services failed', 'kubectl -n openstack2 describe'],
  },
  {
    rule: 'metallb/pending-unknown-pool',
    when: 'the control plane waits for a Service that is pending: the Service is the cause',
    objects: changed(
      cp,
      failed('keystone-internal LoadBalancer IP still pending'),
      having(service('openstack2/keystone-internal', { ports: [5000], annotations: requests('internalapi') })),
    ),
    about: 'Service openstack2/keystone-internal',
    says: ['no pool internalapi'],
  },
  {
    rule: 'control-plane/service-error',
    when: "keystone's database does not exist: the error of the control plane follows from it",
    objects: changed(
      cp,
      failed('KeystoneAPI error'),
      having(
        cr('keystone.openstack.org/v1beta1/KeystoneAPI', 'openstack2/keystone', {}, [
          bad('Ready', 'x'),
          bad('DBReady', 'DB error occurred: no galera'),
        ]),
      ),
    ),
    about: 'KeystoneAPI openstack2/keystone',
    says: ['DBReady: DB error occurred: no galera'],
  },
  {
    rule: 'control-plane/database-claim-pending',
    when: "keystone waits for its database, and galera's volume is pending",
    objects: changed(keystone, dbWaits, unbound),
    about: volume,
    says: [
      'openstack-galera-0 of Galera openstack2/openstack does not start',
      'no database for keystone',
      'KeystoneAPI openstack2/keystone: DB create job still running (DBReady)',
      'kubectl -n openstack2 describe persistentvolumeclaim mysql-db-openstack-galera-0',
    ],
  },
  {
    rule: 'control-plane/database-claim-pending',
    when: 'keystone, galera and the control plane report errors: all of them follow from the volume',
    objects: changed(
      cp,
      failed('KeystoneAPI error'),
      changed(
        'Galera openstack2/openstack',
        status({ conditions: [bad('DeploymentReady', 'no pod is ready')] }),
        changed(keystone, status({ conditions: [bad('DBSyncReady', 'DBsync job error')] }), unbound),
      ),
    ),
    about: volume,
    says: ['DBsync job error (DBSyncReady)'],
  },
  {
    rule: 'kubernetes/claim-not-served',
    when: "an event explains why galera's volume is pending: that causes keystone's error",
    objects: changed(keystone, status({ conditions: [bad('DBReady', 'DB error occurred')] }), [
      ...unbound,
      event(
        object('v1/PersistentVolumeClaim', 'openstack2/mysql-db-openstack-galera-0'),
        'ProvisioningFailed',
        'no space left in the pool',
      ),
    ]),
    about: volume,
    says: ['no space left in the pool'],
  },
  {
    rule: 'kubernetes/pod-unschedulable',
    when: 'no node has memory for galera: its volume waits for the pod',
    objects: galeraWaits('0/2 nodes are available: 2 Insufficient memory'),
    about: 'Pod openstack2/openstack-galera-0',
    says: ['2 Insufficient memory'],
  },
  {
    rule: 'kubernetes/pod-cannot-run',
    when: "galera crashes: keystone's error follows from it",
    objects: changed(
      keystone,
      status({ conditions: [bad('DBReady', 'DB error occurred')] }),
      having(crashing('openstack2/openstack-galera-0')),
    ),
    about: 'Pod openstack2/openstack-galera-0',
    says: ['container galera'],
  },
  {
    rule: 'control-plane/two-in-a-namespace',
    when: 'a second control plane was applied into a cloud',
    objects: having(
      cr('core.openstack.org/v1beta1/OpenStackControlPlane', 'openstack2/other', { secret: 'osp-secret' }),
    ),
    about: 'OpenStackControlPlane openstack2/other',
    says: ['controlplane and other'],
  },
  {
    rule: 'control-plane/foreign-endpoint',
    when: 'the endpoint of glance points to another cloud',
    objects: having(
      object('keystone.openstack.org/v1beta1/KeystoneEndpoint', 'openstack/glance', {
        spec: { endpoints: { internal: 'https://glance-internal.openstack2.svc:9292' } },
      }),
    ),
    about: 'KeystoneEndpoint openstack/glance',
    says: ['which belongs to openstack2'],
  },
  {
    rule: 'control-plane/no-operators',
    when: 'make openstack_init was not run',
    objects: healthy()
      .filter(({ kind }) => kind !== 'OpenStack')
      .map((one) => (one.kind === 'OpenStackControlPlane' ? { ...one, status: {} } : one)),
    about: 'OpenStackControlPlane openstack/controlplane',
    says: ['these 2 clouds', 'stackloom up --stage openstack-init'],
  },
]
