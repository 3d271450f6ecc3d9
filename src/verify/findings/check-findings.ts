/** SL900x to SL902x: findings of `verify` about planned objects, pools and Services. */
import { problem } from '../../errors/finding.ts'

export const checkIncomplete = problem<{
  check: string
  kind: string
  reason: string
  /** Set when the source is a folder of dumps. */
  dumped: boolean
}>({
  code: 'SL9001',
  severity: 'error',
  title: 'A check could not read everything it needs',
  message: ({ check, kind, reason }) => `${check} cannot be proved: ${kind} could not be read: ${reason}`,
  remedy: ({ kind, dumped }) =>
    dumped
      ? `add it to the folder (kubectl get ${kind} -A -o yaml); if the cluster has none, accept this finding in the site file under \`spec.accept\``
      : `run verify with an account that may list ${kind} in all namespaces`,
  description: `A check that read only a part of the cluster proves nothing: the Service that holds another cloud's address may be in the
namespace that could not be read. Such a check does not count as passed.`,
  example: {
    check: 'foreign-holders',
    kind: 'Service',
    reason: 'seen in openstack only, other namespaces are forbidden',
    dumped: false,
  },
})

export const plannedMissing = problem<{ cloud: string; what: string }>({
  code: 'SL9002',
  severity: 'error',
  title: 'A planned object is not on the cluster',
  message: ({ cloud, what }) => `${what} of ${cloud} is planned but does not exist`,
  remedy: () => 'run `stackloom up`, which creates missing objects',
  description: `Every object that \`stackloom render\` prints must exist on the cluster. A missing object was deleted, or the deployment has not
reached it yet: \`stackloom status\` shows the progress.`,
  example: { cloud: 'rhoso1', what: 'IPAddressPool metallb-system/openstack-internalapi' },
})

export const plannedDiffers = problem<{ what: string; path: string; planned: string; live: string }>({
  code: 'SL9003',
  severity: 'error',
  title: 'An object on the cluster differs from the plan',
  message: ({ what, path, planned, live }) => `${what}: ${path} is ${live}, planned is ${planned}`,
  remedy: () =>
    'run `stackloom diff` to see the difference and `stackloom up` to restore the plan; `--force-conflicts` overwrites fields of other managers',
  description: `The object exists, but a planned field has another value: it was edited manually, overwritten by another tool, or left from an
older plan. Fields that are not planned are not compared.`,
  example: {
    what: 'IPAddressPool metallb-system/openstack-internalapi',
    path: 'spec.addresses[0]',
    planned: '172.17.0.80-172.17.0.90',
    live: '172.17.0.80-172.17.0.95',
  },
})

export const poolOpen = problem<{ pool: string; namespace: string; live: readonly string[] }>({
  code: 'SL9011',
  severity: 'error',
  title: "A cloud's pool serves other namespaces",
  message: ({ pool, namespace, live }) =>
    live.length === 0
      ? `pool ${pool} must serve only ${namespace}, but it serves every namespace`
      : `pool ${pool} must serve only ${namespace}, but it serves ${live.join(', ')}`,
  remedy: ({ pool, namespace }) =>
    `kubectl -n metallb-system patch ipaddresspool ${pool} --type merge -p '{"spec":{"serviceAllocation":{"namespaces":["${namespace}"]}}}'`,
  description: `A Service can get an address of a pool if the \`serviceAllocation\` of the pool lists the namespace of the Service. Without it,
or with an additional namespace, a Service of another cloud can get an address of this cloud. Selectors in
\`serviceAllocation\` also extend the scope: a selector that matches no namespace does not restrict anything.`,
  example: { pool: 'openstack-internalapi', namespace: 'openstack', live: ['openstack', 'openstack2'] },
})

export const foreignPoolOverlap = problem<{ cloud: string; pool: string; range: string; planned: string }>({
  code: 'SL9012',
  severity: 'error',
  title: "Another pool contains a cloud's addresses",
  message: ({ cloud, pool, range, planned }) => `pool ${pool} has ${range}, which is in ${planned} of ${cloud}`,
  remedy: ({ pool }) => `remove the range from ${pool}, or delete the pool if nothing uses it`,
  description: `Each address must be in one pool only. A second pool with addresses of this cloud's subnets can assign them to Services of
other namespaces, or assign an address that a pod, a node or a host already has.`,
  example: {
    cloud: 'rhoso1',
    pool: 'internalapi',
    range: '172.17.0.80-172.17.0.90',
    planned: 'vips 172.17.0.80-172.17.0.90 of internalapi',
  },
})

export const announcedElsewhere = problem<{ pool: string; by: string; on: string; planned: string }>({
  code: 'SL9013',
  severity: 'error',
  title: 'A pool is announced on the wrong interface',
  message: ({ pool, by, on, planned }) => `${by} announces pool ${pool} on ${on}; its network is on ${planned}`,
  remedy: ({ by }) => `delete ${by}, or set its pools and interfaces`,
  description: `Advertisements are cumulative: MetalLB answers ARP for an address on the interfaces of all matching advertisements. An
advertisement without \`ipAddressPools\` matches all pools, and one without \`interfaces\` announces on every interface, so the
VIPs of every cloud appear on every segment.`,
  example: {
    pool: 'openstack-internalapi',
    by: 'L2Advertisement metallb-system/all',
    on: 'every interface',
    planned: 'enp6s0.20',
  },
})

export const serviceWithoutAddress = problem<{ service: string; planned: string; said: string | undefined }>({
  code: 'SL9021',
  severity: 'error',
  title: 'A LoadBalancer Service has no address',
  message: ({ service, planned, said }) =>
    `${service} waits for ${planned || 'its address'}${said ? `; MetalLB says: ${said}` : ''}`,
  remedy: ({ service }) => `run stackloom doctor to find the cause, or kubectl describe service ${service}`,
  description: `MetalLB assigns no address if the pool does not exist, does not serve the namespace or does not contain the address, or if
another Service with a different sharing key or the same port has the address. The event of the Service shows the reason.`,
  example: { service: 'openstack/keystone-internal', planned: '172.17.0.80', said: 'unknown pool "internalapi"' },
})

export const serviceAddressWrong = problem<{ service: string; has: string; planned: string }>({
  code: 'SL9022',
  severity: 'error',
  title: 'A LoadBalancer Service has a different address than planned',
  message: ({ service, has, planned }) => `${service} has ${has}, planned is ${planned}`,
  remedy: () =>
    "compare the control plane's override with `stackloom slots`, and run `stackloom up` to apply the plan again",
  description: `The address of the Service is not the planned address of its slot: the override requests another address, or none and MetalLB
chose one. The hosts and the DNS of the data plane use the planned address.`,
  example: { service: 'openstack/keystone-internal', has: '172.17.0.81', planned: '172.17.0.80' },
})

export const serviceFromOtherPool = problem<{ service: string; pool: string; planned: string }>({
  code: 'SL9023',
  severity: 'error',
  title: 'A Service got its address from the pool of another network',
  message: ({ service, pool, planned }) => `${service} has an address of pool ${pool}, planned is ${planned}`,
  remedy: ({ planned }) => `set metallb.io/address-pool: ${planned} in the override of its slot`,
  description: `MetalLB records the pool of an address in \`metallb.io/ip-allocated-from-pool\`. Another pool has another advertisement and
therefore another interface: the address is announced on the wrong segment.`,
  example: { service: 'openstack/keystone-internal', pool: 'internalapi', planned: 'openstack-internalapi' },
})

export const vipUnused = problem<{ cloud: string; slot: string; address: string }>({
  code: 'SL9024',
  severity: 'error',
  title: 'No Service has a planned VIP',
  message: ({ cloud, slot, address }) => `${address} is planned for ${slot} of ${cloud}, but no Service has it`,
  remedy: () => 'run `stackloom status`: the service is not deployed, or its Service waits for an address',
  description: `Each slot of the control plane creates one Service with its planned address. If no Service of the cloud has the address,
clients that use it (through the keystone catalog, or on the data plane) cannot connect.`,
  example: { cloud: 'rhoso1', slot: 'keystone.internal', address: '172.17.0.80' },
})

export const foreignHolder = problem<{ cloud: string; service: string; address: string; network: string }>({
  code: 'SL9025',
  severity: 'error',
  title: "A Service of another namespace holds a cloud's address",
  message: ({ cloud, service, address, network }) =>
    `Service ${service} holds ${address}, which is in ${network} of ${cloud}`,
  remedy: ({ service }) =>
    `give ${service} an address of its own pool, then check how it got this one: \`stackloom verify\` reports open pools`,
  description: `If a Service of another namespace has an address of a cloud, the cloud is not isolated: its traffic reaches the other Service.
This happens when a pool serves other namespaces, or when two pools overlap.`,
  example: { cloud: 'rhoso1', service: 'openstack2/keystone-internal', address: '172.17.0.80', network: 'internalapi' },
})

export const sharingKeyCrosses = problem<{ key: string; here: string; there: string }>({
  code: 'SL9026',
  severity: 'error',
  title: 'Services of two clouds have the same sharing key',
  message: ({ key, here, there }) => `${here} and ${there} have the sharing key ${key}`,
  remedy: () => 'give each cloud its own key; the plan uses the name of the pool',
  description: `MetalLB assigns one address to Services with the same sharing key if their ports differ, and ignores their namespaces. Two
clouds with the same key can get the same address. Operators never remove annotations, so an old key may remain with the
deprecated prefix.`,
  example: { key: 'internalapi', here: 'openstack/keystone-internal', there: 'openstack2/placement-internal' },
})
