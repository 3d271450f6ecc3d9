/** Control planes that do not get ready. */
import { healthy } from '../healthy.ts'
import { asks, bad, cr, object, service } from '../objects.ts'
import { changed, having, type State, spec, status, without } from '../state.ts'

const cp = 'OpenStackControlPlane openstack2/controlplane'
const failed = (message: string) =>
  status({ conditions: [bad('Ready', message), bad('OpenStackControlPlaneExposeServiceReady', message)] })

export const controlPlaneStates: readonly State[] = [
  {
    rule: 'control-plane/secret-missing',
    when: 'osp-secret was never made',
    objects: changed(cp, failed('Secret osp-secret not found'), without('Secret openstack2/osp-secret')),
    about: 'Secret openstack2/osp-secret',
    says: ['OpenStackControlPlane openstack2/controlplane names it', 'stackloom up --stage secrets'],
  },
  {
    rule: 'control-plane/secret-missing',
    when: 'the key of the hosts is gone',
    objects: without('Secret openstack2/ssh'),
    about: 'Secret openstack2/ssh',
    says: ['OpenStackDataPlaneNodeSet openstack2/computes', 'Ansible cannot log in'],
  },
  {
    rule: 'control-plane/secret-key-missing',
    when: 'heat was switched on later: its keys are the cause of what the control plane says',
    objects: changed(cp, (one) =>
      failed("heat: field 'HeatPassword' not found in Secret osp-secret")(
        spec({ heat: { enabled: true } })(one),
      ),
    ),
    about: 'Secret openstack2/osp-secret',
    says: ['no HeatPassword, HeatAuthEncryptionKey, which heat reads'],
  },
  {
    rule: 'control-plane/condition-error',
    when: 'a control plane has an error of its own',
    objects: changed(cp, failed('exposing the services failed')),
    about: cp,
    says: [
      'OpenStackControlPlaneExposeServiceReady: exposing the services failed',
      'kubectl -n openstack2 describe',
    ],
  },
  {
    rule: 'metallb/pending-unknown-pool',
    when: 'the control plane waits for a Service that is pending: the Service is the cause',
    objects: changed(
      cp,
      failed('keystone-internal LoadBalancer IP still pending'),
      having(service('openstack2/keystone-internal', { ports: [5000], annotations: asks('internalapi') })),
    ),
    about: 'Service openstack2/keystone-internal',
    says: ['no pool internalapi'],
  },
  {
    rule: 'control-plane/service-error',
    when: "keystone's database was not made: the control plane's word follows from it",
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
    when: "glance's endpoint is another cloud's",
    objects: having(
      object('keystone.openstack.org/v1beta1/KeystoneEndpoint', 'openstack/glance', {
        spec: { endpoints: { internal: 'https://glance-internal.openstack2.svc:9292' } },
      }),
    ),
    about: 'KeystoneEndpoint openstack/glance',
    says: ["which is openstack2's"],
  },
  {
    rule: 'control-plane/no-operators',
    when: 'make openstack_init was forgotten',
    objects: healthy()
      .filter(({ kind }) => kind !== 'OpenStack')
      .map((one) => (one.kind === 'OpenStackControlPlane' ? { ...one, status: {} } : one)),
    about: 'OpenStackControlPlane openstack/controlplane',
    says: ['these 2 clouds', 'stackloom up --stage openstack-init'],
  },
]
