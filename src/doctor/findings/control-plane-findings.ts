/** SL9580 to SL9589: the control plane of a cloud. */
import { problem } from '../../errors/finding.ts'

export const secretMissing = problem<{ reader: string; harm: string }>({
  code: 'SL9580',
  severity: 'error',
  title: 'A Secret that a cloud needs does not exist',
  message: ({ reader, harm }) => `${reader} refers to it, but it does not exist: ${harm}`,
  remedy: () =>
    "run stackloom up --stage secrets, which creates it with random values; do not copy another cloud's Secret",
  description: `The services of a cloud read their passwords from one Secret in its namespace (\`spec.secret\`, usually osp-secret). The SSH
keys of its hosts are in another one. Without them galera crashes, keystone waits, and Ansible cannot log in.`,
  example: { reader: 'OpenStackControlPlane openstack/controlplane', harm: 'no service gets a password' },
})

export const secretKeyMissing = problem<{ keys: readonly string[]; service: string }>({
  code: 'SL9581',
  severity: 'error',
  title: 'A key is missing in the Secret of a cloud',
  message: ({ keys, service }) => `it has no ${keys.join(', ')}, which ${service} reads`,
  remedy: () => 'run stackloom up --stage secrets, which adds the missing keys and changes nothing else',
  description: `Each service reads its own key. A service that was enabled later may find its key missing: its database account and its
keystone user are not created, and the control plane waits for it.`,
  example: { keys: ['HeatAuthEncryptionKey'], service: 'heat' },
})

export const conditionError = problem<{ condition: string; message: string; describe: string }>({
  code: 'SL9582',
  severity: 'error',
  title: 'A control plane reports a persistent error',
  message: ({ condition, message }) => `${condition}: ${message}`,
  remedy: ({ describe }) => describe,
  description: `The operators also report errors that the next reconcile may fix. An error that has lasted for five minutes is unlikely
to go away. The condition with severity Error names the service; \`Ready\` only repeats it.`,
  example: {
    condition: 'OpenStackControlPlaneRabbitMQReady',
    message: 'RabbitMQ error occurred: rabbitmq-cell1 LoadBalancer IP still pending',
    describe: 'kubectl -n openstack describe openstackcontrolplane.core.openstack.org controlplane',
  },
})

export const serviceError = problem<{ condition: string; message: string; describe: string }>({
  code: 'SL9583',
  severity: 'error',
  title: 'A service of a control plane reports a persistent error',
  message: ({ condition, message }) => `${condition}: ${message}`,
  remedy: ({ describe }) => describe,
  description: `Each service has its own object (KeystoneAPI, Galera, Nova, …) with the same kind of conditions as the control plane. The
condition with severity Error is closest to the cause.`,
  example: {
    condition: 'DBSyncReady',
    message: 'DBsync job error occurred Internal error occurred: Job has reached the specified backoff limit',
    describe: 'kubectl -n openstack describe keystoneapi.keystone.openstack.org keystone',
  },
})

export const twoControlPlanes = problem<{ namespace: string; names: readonly string[] }>({
  code: 'SL9584',
  severity: 'error',
  title: 'A namespace has two control planes',
  message: ({ namespace, names }) => `${namespace} has ${names.join(' and ')}: they overwrite each other's Services`,
  remedy: () => 'a cloud needs its own namespace: delete one of the control planes, or move it to another namespace',
  description: `The names of Services, databases and endpoints do not contain the name of the control plane. Two control planes in one
namespace overwrite each other's Services and share each other's databases.`,
  example: { namespace: 'openstack', names: ['controlplane', 'openstack-galera'] },
})

export const foreignEndpoint = problem<{ endpoint: string; url: string; other: string }>({
  code: 'SL9585',
  severity: 'error',
  title: 'An endpoint points to another cloud',
  message: ({ endpoint, url, other }) => `its ${endpoint} endpoint is ${url}, which belongs to ${other}`,
  remedy: () =>
    'check managedFields for the writer (kubectl get keystoneendpoint -o yaml), then correct the override of that service in the control plane',
  description: `Clients get the address of a service from keystone's catalog. An endpoint of another cloud sends them there with a token
that the other cloud does not accept, or worse, does accept.`,
  example: { endpoint: 'internal', url: 'https://glance-internal.openstack2.svc:9292', other: 'openstack2' },
})

export const operatorMissing = problem<{ clouds: number }>({
  code: 'SL9586',
  severity: 'error',
  title: 'No operator reconciles the control planes',
  message: ({ clouds }) =>
    `it was never reconciled, and no OpenStack object exists: the service operators of ${clouds === 1 ? 'this cloud' : `these ${clouds} clouds`} were never started`,
  remedy: () => 'run stackloom up --stage openstack-init, which creates it and waits for the operators',
  description: `The OpenStack operator installs the service operators when an object of kind OpenStack exists (\`make openstack_init\`).
Until then a control plane is stored, but nothing reconciles it.`,
  example: { clouds: 2 },
})

export const databaseClaimPending = problem<{
  database: string
  pod: string
  services: readonly string[]
  describe: string
}>({
  code: 'SL9587',
  severity: 'error',
  title: 'A database waits for its volume',
  message: ({ database, pod, services }) =>
    `it is pending, so ${pod} of ${database} does not start${services.length > 0 ? `, and there is no database for ${services.join(', ')}` : ''}`,
  remedy: ({ describe }) =>
    `check what it waits for: ${describe}; then check that its storage class has a provisioner, or create a matching volume: kubectl get storageclass,pv`,
  description: `Each pod of a Galera cluster has its own volume claim, \`mysql-db-NAME-galera-N\`, and starts only when the claim is bound.
Until then no database is created, and the services that refer to the cluster (\`databaseInstance\`) wait: \`DBReady\` and
\`DBSyncReady\` of keystone stay False although keystone itself is fine.`,
  example: {
    database: 'Galera openstack/openstack',
    pod: 'openstack-galera-0',
    services: ['keystone'],
    describe: 'kubectl -n openstack describe persistentvolumeclaim mysql-db-openstack-galera-0',
  },
})
