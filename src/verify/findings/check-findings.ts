/** SL90xx: what `verify` finds on a live cluster. SL91xx, the network probe: `probe.ts`. SL92xx, room: `room.ts`. */
import { problem } from '../../errors/finding.ts'

export const checkIncomplete = problem<{
  check: string
  kind: string
  reason: string
  /** Whether it was looked for in a folder of dumps. */
  dumped: boolean
}>({
  code: 'SL9001',
  severity: 'error',
  title: 'A check could not look at everything that it needs',
  message: ({ check, kind, reason }) => `${check} cannot be proved: ${kind} could not be read: ${reason}`,
  remedy: ({ kind, dumped }) =>
    dumped
      ? `put it into the folder, too (kubectl get ${kind} -A -o yaml); if there was none, accept it in the site file under \`spec.accept\``
      : `run verify with an account that may list ${kind} in all namespaces`,
  description: `A check that saw only a part of the cluster proves nothing: the Service that holds another cloud's address may
be in the namespace that could not be read. So it does not count as passed.`,
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
  message: ({ cloud, what }) => `${what} of ${cloud} is planned and does not exist`,
  remedy: () => 'run `stackloom up`; it makes what is missing and leaves the rest',
  description: `Everything that \`stackloom render\` prints must be on the cluster. What is missing was deleted by somebody, or the
deployment did not get that far: \`stackloom status\` shows how far it got.`,
  example: { cloud: 'rhoso1', what: 'IPAddressPool metallb-system/openstack-internalapi' },
})

export const plannedDiffers = problem<{ what: string; path: string; planned: string; live: string }>({
  code: 'SL9003',
  severity: 'error',
  title: 'An object on the cluster is not as planned',
  message: ({ what, path, planned, live }) => `${what}: ${path} is ${live}, planned is ${planned}`,
  remedy: () =>
    'see what `stackloom diff` says; `stackloom up` restores the plan, `--force-conflicts` takes a field back from who edited it',
  description: `The object exists, and a field that the plan decides has another value: edited by hand, overwritten by another
tool, or left from an older plan. Fields that the plan does not decide are nobody's business here.`,
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
      ? `pool ${pool} is for ${namespace} alone, and is open to every namespace`
      : `pool ${pool} is for ${namespace} alone, and serves ${live.join(', ')}`,
  remedy: ({ pool, namespace }) =>
    `kubectl -n metallb-system patch ipaddresspool ${pool} --type merge -p '{"spec":{"serviceAllocation":{"namespaces":["${namespace}"]}}}'`,
  description: `MetalLB lets a Service take an address of a pool when the pool's \`serviceAllocation\` names the Service's namespace.
Without it, or with another namespace in it, a Service of another cloud can get an address of this one. Selectors in
\`serviceAllocation\` widen it too: a selector that matches no namespace counts as no restriction at all.`,
  example: { pool: 'openstack-internalapi', namespace: 'openstack', live: ['openstack', 'openstack2'] },
})

export const foreignPoolOverlap = problem<{ cloud: string; pool: string; range: string; planned: string }>({
  code: 'SL9012',
  severity: 'error',
  title: "Another pool gives out a cloud's addresses",
  message: ({ cloud, pool, range, planned }) => `pool ${pool} has ${range}, which is in ${planned} of ${cloud}`,
  remedy: ({ pool }) => `take the range out of ${pool}, or delete the pool if nothing uses it`,
  description: `An address must come from one pool only. A second pool with addresses of this cloud's subnets can hand one to a
Service of anybody, or one that whereabouts, a node or a host already has.`,
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
  title: 'A pool is announced on an interface that is not its own',
  message: ({ pool, by, on, planned }) => `${by} announces pool ${pool} on ${on}; its network is on ${planned}`,
  remedy: ({ by }) => `delete ${by}, or name its pools and interfaces`,
  description: `Advertisements add up: MetalLB answers ARP for an address on every interface that any matching advertisement
names. One without \`ipAddressPools\` matches all pools, and one without \`interfaces\` answers everywhere, so the VIPs of
every cloud appear on every segment.`,
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
  remedy: ({ service }) => `stackloom doctor finds the cause; or: kubectl describe service ${service}`,
  description: `MetalLB gives no address when the pool is unknown, does not serve the namespace, has no such address, or the
address is taken by a Service with another sharing key or the same port. Its event says which.`,
  example: {
    service: 'openstack/keystone-internal',
    planned: '172.17.0.80',
    said: 'unknown pool "internalapi"',
  },
})

export const serviceAddressWrong = problem<{ service: string; has: string; planned: string }>({
  code: 'SL9022',
  severity: 'error',
  title: 'A LoadBalancer Service has another address than planned',
  message: ({ service, has, planned }) => `${service} has ${has}, planned is ${planned}`,
  remedy: () => "compare the control plane's override with `stackloom slots`; `stackloom up` applies it again",
  description: `The Service's address is not the one that the plan gives its slot: the override asks for another one, or for none
and MetalLB chose. Hosts and DNS of the data plane use the planned one.`,
  example: { service: 'openstack/keystone-internal', has: '172.17.0.81', planned: '172.17.0.80' },
})

export const serviceFromOtherPool = problem<{ service: string; pool: string; planned: string }>({
  code: 'SL9023',
  severity: 'error',
  title: "A Service got its address from a pool that is not its network's",
  message: ({ service, pool, planned }) => `${service} has an address of pool ${pool}, planned is ${planned}`,
  remedy: ({ planned }) => `set metallb.io/address-pool: ${planned} in the override of its slot`,
  description: `MetalLB writes into \`metallb.io/ip-allocated-from-pool\` which pool an address came from. Another pool means another
advertisement, and so another interface: the address is announced on the wrong segment.`,
  example: { service: 'openstack/keystone-internal', pool: 'internalapi', planned: 'openstack-internalapi' },
})

export const vipUnused = problem<{ cloud: string; slot: string; address: string }>({
  code: 'SL9024',
  severity: 'error',
  title: 'No Service holds a planned VIP',
  message: ({ cloud, slot, address }) => `${address} is planned for ${slot} of ${cloud}, and no Service holds it`,
  remedy: () => 'see `stackloom status`: the service is not deployed, or its Service waits for its address',
  description: `Each slot of the control plane makes one Service with its planned address. When no Service of the cloud holds the
address, whoever was told to use it (keystone's catalogue, the data plane) finds nobody.`,
  example: { cloud: 'rhoso1', slot: 'keystone.internal', address: '172.17.0.80' },
})

export const foreignHolder = problem<{ cloud: string; service: string; address: string; network: string }>({
  code: 'SL9025',
  severity: 'error',
  title: "A Service of another namespace holds a cloud's address",
  message: ({ cloud, service, address, network }) =>
    `Service ${service} holds ${address}, which is in ${network} of ${cloud}`,
  remedy: ({ service }) =>
    `give ${service} an address of its own pool, then look at how it got this one: \`stackloom verify\` names open pools`,
  description: `An address of one cloud that a Service elsewhere holds is the end of isolation: traffic for this cloud reaches
somebody else. It happens when a pool is open to other namespaces, or when two pools overlap.`,
  example: {
    cloud: 'rhoso1',
    service: 'openstack2/keystone-internal',
    address: '172.17.0.80',
    network: 'internalapi',
  },
})

export const sharingKeyCrosses = problem<{ key: string; here: string; there: string }>({
  code: 'SL9026',
  severity: 'error',
  title: 'Services of two clouds have the same sharing key',
  message: ({ key, here, there }) => `${here} and ${there} have the sharing key ${key}`,
  remedy: () => 'give each cloud its own key; the plan uses the name of the pool',
  description: `MetalLB lets Services with one sharing key have one address when their ports differ, and it does not look at their
namespaces. Two clouds with one key can end up behind one address. Annotations that an operator has written once are never
removed, so an old key may live on in the deprecated spelling.`,
  example: {
    key: 'internalapi',
    here: 'openstack/keystone-internal',
    there: 'openstack2/placement-internal',
  },
})
