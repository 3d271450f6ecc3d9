/** SL9580 to SL9589: the control plane of a cloud. */
import { problem } from '../../errors/finding.ts'

export const secretMissing = problem<{ reader: string; harm: string }>({
  code: 'SL9580',
  severity: 'error',
  title: 'A Secret that a cloud needs does not exist',
  message: ({ reader, harm }) => `${reader} names it, and it does not exist: ${harm}`,
  remedy: () =>
    "stackloom up --stage secrets makes it with random values; a copy of another cloud's Secret is no remedy",
  description: `The passwords of a cloud's services come from one Secret of its namespace (\`spec.secret\`, usually osp-secret), the keys
of its hosts from another. Without them galera crashes, keystone waits, and Ansible cannot log in.`,
  example: { reader: 'OpenStackControlPlane openstack/controlplane', harm: 'no service gets a password' },
})

export const secretKeyMissing = problem<{ keys: readonly string[]; service: string }>({
  code: 'SL9581',
  severity: 'error',
  title: 'A key is missing in the Secret of a cloud',
  message: ({ keys, service }) => `it has no ${keys.join(', ')}, which ${service} reads`,
  remedy: () => 'stackloom up --stage secrets adds what is missing and touches nothing else',
  description: `Each service reads its own key. One that was switched on later finds its key missing: its database account and its user
in keystone are not made, and the control plane waits for it.`,
  example: { keys: ['HeatAuthEncryptionKey'], service: 'heat' },
})

export const conditionError = problem<{ condition: string; message: string; describe: string }>({
  code: 'SL9582',
  severity: 'error',
  title: 'A control plane reports an error that lasts',
  message: ({ condition, message }) => `${condition}: ${message}`,
  remedy: ({ describe }) => describe,
  description: `The operators report as Error what may pass with the next try; one that has lasted five minutes does not. The condition
with severity Error names the service; \`Ready\` only repeats it.`,
  example: {
    condition: 'OpenStackControlPlaneRabbitMQReady',
    message: 'RabbitMQ error occurred: rabbitmq-cell1 LoadBalancer IP still pending',
    describe: 'kubectl -n openstack describe openstackcontrolplane.core.openstack.org controlplane',
  },
})

export const serviceError = problem<{ condition: string; message: string; describe: string }>({
  code: 'SL9583',
  severity: 'error',
  title: 'A service of a control plane reports an error that lasts',
  message: ({ condition, message }) => `${condition}: ${message}`,
  remedy: ({ describe }) => describe,
  description: `Each service has an object of its own (KeystoneAPI, Galera, Nova, …) with the same kind of conditions as the control
plane. The one with severity Error is nearest to the cause.`,
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
  message: ({ namespace, names }) =>
    `${namespace} has ${names.join(' and ')}: they fight for Services of the same names`,
  remedy: () => 'a cloud is a namespace: delete the one that is not meant, or move it to a namespace of its own',
  description: `Names of Services, databases and endpoints do not carry the name of the control plane. Two in one namespace overwrite each
other's Services and share each other's databases.`,
  example: { namespace: 'openstack', names: ['controlplane', 'openstack-galera'] },
})

export const foreignEndpoint = problem<{ endpoint: string; url: string; other: string }>({
  code: 'SL9585',
  severity: 'error',
  title: 'An endpoint leads into another cloud',
  message: ({ endpoint, url, other }) => `its ${endpoint} endpoint is ${url}, which is ${other}'s`,
  remedy: () =>
    'see who wrote it: kubectl get keystoneendpoint -o yaml, managedFields; then correct the override of that service in the control plane',
  description: `Clients take the address of a service from keystone's catalog. An endpoint of another cloud sends them there with a token
that it does not know, or worse, does.`,
  example: { endpoint: 'internal', url: 'https://glance-internal.openstack2.svc:9292', other: 'openstack2' },
})

export const noOperator = problem<{ clouds: number }>({
  code: 'SL9586',
  severity: 'error',
  title: 'Nobody looks at the control planes',
  message: ({ clouds }) =>
    `nobody has looked at it, and there is no object OpenStack: the service operators of ${clouds === 1 ? 'this cloud' : `these ${clouds} clouds`} were never started`,
  remedy: () => 'stackloom up --stage openstack-init makes it and waits for the operators',
  description: `The OpenStack operator installs the service operators when it sees an object of kind OpenStack
(\`make openstack_init\`). Before that a control plane is stored, and nothing happens.`,
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
    `see what it waits for: ${describe}; then see that something provisions for its storage class, or make a volume that fits: kubectl get storageclass,pv`,
  description: `Each pod of a Galera cluster has a volume claim of its own, \`mysql-db-NAME-galera-N\`, and does not start before that is
bound. Without it no database is made, and the services that name the cluster (\`databaseInstance\`) wait: \`DBReady\` and
\`DBSyncReady\` of keystone stay open, though nothing is wrong with keystone.`,
  example: {
    database: 'Galera openstack/openstack',
    pod: 'openstack-galera-0',
    services: ['keystone'],
    describe: 'kubectl -n openstack describe persistentvolumeclaim mysql-db-openstack-galera-0',
  },
})
