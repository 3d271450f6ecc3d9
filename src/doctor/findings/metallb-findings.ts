/** SL9520 to SL9539: MetalLB's pools and advertisements. */
import { problem } from '../../errors/finding.ts'

export const samePoolName = problem<{ pool: string; holder: string; losers: readonly string[]; ranges: string }>({
  code: 'SL9520',
  severity: 'error',
  title: 'Two clouds use one pool name: the second apply overwrote the first',
  message: ({ pool, holder, losers, ranges }) =>
    `${[holder, ...losers].join(' and ')} request pool ${pool}, but only one object of that name can exist: it now has ${ranges} for ${holder}, and the ranges of ${losers.join(', ')} are lost`,
  remedy: ({ pool, holder, losers }) =>
    `give each cloud its own pool, ${[holder, ...losers].map((cloud) => `${cloud}-${pool}`).join(' and ')}: stackloom import --from cluster, stackloom plan, stackloom adopt`,
  description: `A pool is one object, identified by kind, namespace and name. If two clouds both apply \`internalapi\`, the result is not two
pools with different \`serviceAllocation\`: the second apply changes the ranges and the scope of the first. MetalLB then removes
the addresses of the first cloud's Services, which are in no pool any more, and leaves these Services pending.`,
  example: { pool: 'internalapi', holder: 'openstack2', losers: ['openstack'], ranges: '172.27.0.80-172.27.0.90' },
})

export const wrongRange = problem<{
  pool: string
  owner: string
  taker: string
  services: readonly string[]
  scope: readonly string[]
  metallb: string
}>({
  code: 'SL9521',
  severity: 'error',
  title: "A Service has an address from another cloud's pool",
  message: ({ pool, owner, taker, services, scope }) =>
    `${taker} has addresses of pool ${pool}, which belongs to ${owner} (${services.join(', ')}): ${scope.length === 0 ? 'the pool has no serviceAllocation.namespaces, so it serves every namespace' : `its serviceAllocation.namespaces is ${scope.join(', ')}`}`,
  remedy: ({ pool, owner, metallb }) =>
    `kubectl -n ${metallb} patch ipaddresspools.metallb.io ${pool} --type=merge -p '{"spec":{"autoAssign":false,"serviceAllocation":{"namespaces":["${owner}"]}}}'; the Service loses the address immediately, so set its own pool in its control plane first`,
  description: `A pool without \`serviceAllocation.namespaces\` serves every Service of the cluster that requests it, and with \`autoAssign\`
(the default) also Services that do not. Then a Service of one cloud gets an address on another cloud's network, where its own
hosts cannot reach it, and takes an address that was planned for another Service.`,
  example: {
    pool: 'openstack2-internalapi',
    owner: 'openstack2',
    taker: 'openstack',
    services: ['keystone-internal 172.27.0.81'],
    scope: [],
    metallb: 'metallb-system',
  },
})

export const manyRanges = problem<{
  pool: string
  ranges: readonly string[]
  namespaces: readonly string[]
  first: string
}>({
  code: 'SL9522',
  severity: 'error',
  title: 'One pool has several ranges for several clouds',
  message: ({ pool, ranges, namespaces, first }) =>
    `pool ${pool} has ${ranges.length} ranges for ${namespaces.join(', ')}: MetalLB serves all of them from the first (${first}) until it is full`,
  remedy: ({ pool, namespaces }) =>
    `create one pool per cloud: ${namespaces.map((namespace) => `${namespace}-${pool.split('-').at(-1)}`).join(', ')} (stackloom plan, stackloom up)`,
  description: `MetalLB does not know which range of a pool is intended for which namespace. It assigns the lowest free address in the order
of \`spec.addresses\`, so the second cloud gets addresses of the first cloud's network.`,
  example: {
    pool: 'internalapi',
    ranges: ['172.17.0.80-172.17.0.90', '172.27.0.80-172.27.0.90'],
    namespaces: ['openstack', 'openstack2'],
    first: '172.17.0.80-172.17.0.90',
  },
})

export const poolsOverlap = problem<{ pool: string; other: string; range: string; metallb: string }>({
  code: 'SL9523',
  severity: 'error',
  title: 'Two pools overlap',
  message: ({ pool, other, range }) => `pools ${pool} and ${other} both contain ${range}`,
  remedy: ({ pool, other, metallb }) =>
    `remove the range from the pool that does not own it: kubectl -n ${metallb} edit ipaddresspools.metallb.io ${pool} (or ${other})`,
  description: `While two pools overlap, MetalLB rejects its whole configuration: it keeps the last valid one, and changes of any pool have no
effect. The webhook normally rejects the second pool, except when it was down or both pools were created at the same time.`,
  example: {
    pool: 'openstack-ctlplane',
    other: 'ctlplane',
    range: '192.168.122.80-192.168.122.90',
    metallb: 'metallb-system',
  },
})

export const configurationRefused = problem<{ program: string; reason: string }>({
  code: 'SL9524',
  severity: 'error',
  title: 'MetalLB rejected its configuration',
  message: ({ program, reason }) => `${program} uses an old configuration: ${reason}`,
  remedy: () => 'correct the object in the message; until then changes of pools and advertisements have no effect',
  description: `MetalLB reads all of its objects as one configuration. If one object is invalid, MetalLB keeps the last valid configuration and
reports the error in the object ConfigurationState (since 0.15.3) and in its log.`,
  example: {
    program: 'controller',
    reason: 'CIDR "192.168.122.80/29" in pool "ctlplane" overlaps with already defined CIDR',
  },
})

export const openPool = problem<{ pool: string; owner: string; metallb: string; why: 'no scope' | 'empty selector' }>({
  code: 'SL9525',
  severity: 'warning',
  title: "A cloud's pool serves every namespace",
  message: ({ pool, owner, why }) =>
    why === 'no scope'
      ? `pool ${pool} of ${owner} has no serviceAllocation.namespaces: any Service of the cluster can get its addresses`
      : `pool ${pool} of ${owner} has namespaceSelectors that match no namespace: MetalLB then serves every namespace`,
  remedy: ({ pool, owner, metallb }) =>
    `kubectl -n ${metallb} patch ipaddresspools.metallb.io ${pool} --type=merge -p '{"spec":{"autoAssign":false,"serviceAllocation":{"namespaces":["${owner}"]}}}'`,
  description: `Without a scope MetalLB serves every Service that requests the pool, and with \`autoAssign\` also Services that request no pool:
the next Service of type LoadBalancer in any namespace may get the address that was planned for keystone. Selectors that match
nothing have the same effect.`,
  example: { pool: 'openstack-internalapi', owner: 'openstack', metallb: 'metallb-system', why: 'no scope' },
})

export const notAdvertised = problem<{ pool: string; services: number; metallb: string }>({
  code: 'SL9526',
  severity: 'error',
  title: 'Assigned addresses are not announced',
  message: ({ pool, services }) =>
    `pool ${pool} has ${services} ${services === 1 ? 'Service' : 'Services'} with addresses, but no L2Advertisement or BGPAdvertisement selects it: no node answers for them`,
  remedy: ({ pool, metallb }) =>
    `run stackloom up --stage metallb-config; without a site file, create an L2Advertisement in ${metallb} with ipAddressPools: [${pool}] and the interface of its network`,
  description: `MetalLB assigns and announces addresses separately. A Service whose pool is in no advertisement has an address and looks
healthy, but cannot be reached.`,
  example: { pool: 'openstack-storage', services: 2, metallb: 'metallb-system' },
})

export const unknownPoolAdvertised = problem<{ advertisement: string; pool: string; known: string | undefined }>({
  code: 'SL9527',
  severity: 'warning',
  title: 'An advertisement refers to a pool that does not exist',
  message: ({ pool, known }) =>
    `it refers to pool ${pool}, which does not exist${known === undefined ? '' : `; did you mean ${known}?`} MetalLB ignores it silently`,
  remedy: ({ known }) =>
    known === undefined
      ? 'delete the advertisement if its pool was removed permanently'
      : `set spec.ipAddressPools to ${known}`,
  description: `MetalLB does not report an unknown pool name in an advertisement. After pools were renamed, the old advertisements announce
nothing, and the new pools are not announced either.`,
  example: { advertisement: 'internalapi-openstack', pool: 'internalapi', known: 'openstack-internalapi' },
})

export const bridgePortAdvertised = problem<{
  port: string
  bridge: string
  node: string
  metallb: string
  advertisement: string
}>({
  code: 'SL9528',
  severity: 'error',
  title: 'An advertisement uses an interface that is a bridge port',
  message: ({ port, bridge, node }) =>
    `it announces on ${port}, which is a port of ${bridge} on node ${node}: MetalLB does not answer ARP there`,
  remedy: ({ bridge, metallb, advertisement }) =>
    `kubectl -n ${metallb} patch l2advertisements.metallb.io ${advertisement} --type=merge -p '{"spec":{"interfaces":["${bridge}"]}}'`,
  description: `The speaker answers only on interfaces that are up and not part of a bridge or bond. If a NIC was added to a bridge, the
advertisement must use the bridge instead.`,
  example: {
    port: 'enp6s0',
    bridge: 'ospbr',
    node: 'worker-0',
    metallb: 'metallb-system',
    advertisement: 'openstack-ctlplane',
  },
})

export const interfaceMissing = problem<{ interface: string; known: string | undefined }>({
  code: 'SL9529',
  severity: 'error',
  title: 'An advertisement uses an interface that no node has',
  message: ({ interface: name, known }) =>
    `it announces on ${name}, which no node has${known === undefined ? '' : ` (there is ${known})`}: no node answers for its pools`,
  remedy: () =>
    'correct spec.interfaces, or create the interface (stackloom up --stage nncp); kubectl get nncp,nnce shows whether its policy was applied',
  description: `The speaker answers only on the listed interfaces. If no node has the interface, no node answers, and no error is reported.`,
  example: { interface: 'enp6s0.20', known: 'enp7s0.20' },
})

export const leaderWithoutInterface = problem<{
  interface: string
  missing: readonly string[]
  service: string | undefined
  having: readonly string[]
}>({
  code: 'SL9530',
  severity: 'error',
  title: 'A node that may announce an address lacks the VLAN',
  message: ({ interface: name, missing, service }) =>
    service === undefined
      ? `it announces on ${name}, which ${missing.join(', ')} ${missing.length === 1 ? 'does' : 'do'} not have, and has no nodeSelectors: if such a node is chosen, no node answers`
      : `Service ${service} is announced by ${missing.join(', ')}, which does not have ${name}: no node answers`,
  remedy: ({ having }) =>
    `add nodeSelectors for the nodes that have it: matchExpressions kubernetes.io/hostname In [${having.join(', ')}]`,
  description: `In layer 2 mode one node answers for an address. It is chosen among all nodes that run a speaker, regardless of the list of
interfaces: a node without the VLAN can be chosen, and then no node answers. Set \`nodeSelectors\` in the advertisement.`,
  example: { interface: 'enp6s0.20', missing: ['worker-3'], service: undefined, having: ['worker-0', 'worker-1'] },
})

export const keyAcrossClouds = problem<{ key: string; holders: readonly string[]; address: string | undefined }>({
  code: 'SL9531',
  severity: 'error',
  title: 'Two clouds use one sharing key',
  message: ({ key, holders, address }) =>
    `${holders.join(' and ')} use the sharing key ${key}${address === undefined ? ': MetalLB may assign them one address' : ` and share ${address}`}`,
  remedy: () =>
    'give each cloud its own key (metallb.io/allow-shared-ip: <namespace>-<network>) in the override of its control plane',
  description: `MetalLB compares sharing keys as strings and ignores the namespace. Two clouds with the key \`internalapi\` of the upstream
samples may get one address if their ports differ: requests of one cloud then reach the other cloud's service.`,
  example: { key: 'internalapi', holders: ['openstack', 'openstack2'], address: '172.17.0.80' },
})

export const rabbitShares = problem<{
  address: string | undefined
  key: string | undefined
  other: string
  port: string
}>({
  code: 'SL9532',
  severity: 'error',
  title: 'Two RabbitMQ Services request one address',
  message: ({ address, key, other, port }) =>
    `it shares ${address ?? `the key ${key}`} with ${other}, and both listen on ${port}: only one of them can get the address`,
  remedy: () =>
    "give each RabbitMQ its own address and remove metallb.io/allow-shared-ip in the control plane's override (rabbitmq.templates.<name>.override.service)",
  description: `Every RabbitMQ of a cloud listens on the same ports, so two of them cannot share an address: the second one stays pending, and
its cell has no message bus. The APIs of a network may share one address.`,
  example: { address: '172.17.0.85', key: undefined, other: 'openstack/rabbitmq-cell1', port: 'TCP/5671' },
})

export const leftoverPool = problem<{ pool: string; clouds: readonly string[]; metallb: string }>({
  code: 'SL9533',
  severity: 'warning',
  title: 'A pool without a cloud prefix is left over',
  message: ({ pool, clouds }) =>
    `pool ${pool} belongs to no cloud: the pools of ${clouds.join(' and ')} start with the namespace, and no Service requests this one`,
  remedy: ({ pool, metallb }) =>
    `check that status.assignedIPv4 is 0, then: kubectl -n ${metallb} delete ipaddresspools.metallb.io ${pool}`,
  description: `\`make openstack\` of install_yamls also renders pools without a prefix. They block the pools of the next cloud ("overlaps with
already defined CIDR") and serve every namespace.`,
  example: { pool: 'ctlplane', clouds: ['openstack', 'openstack2'], metallb: 'metallb-system' },
})

export const poolNotPlanned = problem<{ pool: string; planned: string; live: string; what: 'ranges' | 'missing' }>({
  code: 'SL9534',
  severity: 'error',
  title: 'A pool differs from the plan',
  message: ({ pool, planned, live, what }) =>
    what === 'missing'
      ? `pool ${pool} (${planned}) is planned but does not exist`
      : `pool ${pool} has ${live}, planned is ${planned}`,
  remedy: () => 'run stackloom diff to see the change, and stackloom up --stage metallb-config to restore the plan',
  description: `The plan gives each pool ranges that do not overlap with nodes, pods and hosts of the subnet. A pool that was edited or
overwritten may assign addresses that are already in use, and removes addresses from existing Services.`,
  example: {
    pool: 'openstack-internalapi',
    planned: '172.17.0.80-172.17.0.90',
    live: '172.27.0.80-172.27.0.90',
    what: 'ranges',
  },
})
