/** SL9520 to SL9539: MetalLB's pools and advertisements. */
import { problem } from '../../errors/finding.ts'

export const samePoolName = problem<{
  pool: string
  holder: string
  losers: readonly string[]
  ranges: string
}>({
  code: 'SL9520',
  severity: 'error',
  title: 'One pool name for two clouds: the second apply overwrote the first',
  message: ({ pool, holder, losers, ranges }) =>
    `pool ${pool} is asked for by ${[holder, ...losers].join(' and ')}, but there is one object of that name: it now holds ${ranges} for ${holder}, and what it held for ${losers.join(', ')} is gone`,
  remedy: ({ pool, holder, losers }) =>
    `give each cloud pools of its own name, ${[holder, ...losers].map((one) => `${one}-${pool}`).join(' and ')}: stackloom import --from cluster, stackloom plan, stackloom adopt`,
  description: `A pool is one object: kind, namespace and name. Two clouds that both apply \`internalapi\` do not make two pools that
are told apart by \`serviceAllocation\`: the second apply changes the first one's ranges and scope. MetalLB then takes the
addresses of the first cloud's Services, which are no longer in any pool, and leaves them pending. MetalLB could not keep two
of one name either: it looks pools up by name. A listing with the same pool twice cannot occur.`,
  example: {
    pool: 'internalapi',
    holder: 'openstack2',
    losers: ['openstack'],
    ranges: '172.27.0.80-172.27.0.90',
  },
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
  title: "A Service has an address out of another cloud's pool",
  message: ({ pool, owner, taker, services, scope }) =>
    `${taker} has addresses of pool ${pool}, which is ${owner}'s (${services.join(', ')}): ${scope.length === 0 ? 'the pool has no serviceAllocation.namespaces, so it serves everybody' : `its serviceAllocation.namespaces says ${scope.join(', ')}`}`,
  remedy: ({ pool, owner, metallb }) =>
    `kubectl -n ${metallb} patch ipaddresspools.metallb.io ${pool} --type=merge -p '{"spec":{"autoAssign":false,"serviceAllocation":{"namespaces":["${owner}"]}}}': the Service loses the address at once, so name its own pool in its control plane first`,
  description: `A pool without \`serviceAllocation.namespaces\` gives its addresses to any Service of the cluster that asks, and with
\`autoAssign\` (the default) also to those that do not. Then a Service of one cloud lives on another cloud's network, where
its own hosts cannot reach it, and takes an address that was planned for somebody else.`,
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
  title: 'One pool with several ranges for several clouds',
  message: ({ pool, ranges, namespaces, first }) =>
    `pool ${pool} has ${ranges.length} ranges for ${namespaces.join(', ')}: MetalLB serves everybody from the first (${first}) until it is full`,
  remedy: ({ pool, namespaces }) =>
    `make one pool for each cloud: ${namespaces.map((namespace) => `${namespace}-${pool.split('-').at(-1)}`).join(', ')} (stackloom plan, stackloom up)`,
  description: `MetalLB does not know which range of a pool was meant for which namespace. It takes the lowest free address in the
order of \`spec.addresses\`, whoever asks: the second cloud gets addresses of the first cloud's network.`,
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
  title: 'Two pools hold the same addresses',
  message: ({ pool, other, range }) => `pools ${pool} and ${other} both hold ${range}`,
  remedy: ({ pool, other, metallb }) =>
    `take the range out of the pool that does not own it: kubectl -n ${metallb} edit ipaddresspools.metallb.io ${pool} (or ${other})`,
  description: `MetalLB refuses its whole configuration while two pools overlap: it keeps working with the last good one, and no change
of any pool counts. Its webhook normally refuses the second pool; it does not when it was down, or when both were created
at the same moment.`,
  example: {
    pool: 'openstack-ctlplane',
    other: 'ctlplane',
    range: '192.168.122.80-192.168.122.90',
    metallb: 'metallb-system',
  },
})

export const configurationRefused = problem<{ who: string; reason: string }>({
  code: 'SL9524',
  severity: 'error',
  title: 'MetalLB has refused its configuration',
  message: ({ who, reason }) => `${who} works with an old configuration: ${reason}`,
  remedy: () => 'correct the object that is named; until then no change of any pool or advertisement counts',
  description: `MetalLB reads all its objects as one configuration. One that it cannot take makes it keep the last good one, and it
says so in the object ConfigurationState (since 0.15.3) and in its log.`,
  example: {
    who: 'controller',
    reason: 'CIDR "192.168.122.80/29" in pool "ctlplane" overlaps with already defined CIDR',
  },
})

export const openPool = problem<{
  pool: string
  owner: string
  metallb: string
  why: 'no scope' | 'empty selector'
}>({
  code: 'SL9525',
  severity: 'warning',
  title: "A cloud's pool serves everybody",
  message: ({ pool, owner, why }) =>
    why === 'no scope'
      ? `pool ${pool} of ${owner} has no serviceAllocation.namespaces: any Service of the cluster may take its addresses`
      : `pool ${pool} of ${owner} has namespaceSelectors that match no namespace: MetalLB then lets every namespace in`,
  remedy: ({ pool, owner, metallb }) =>
    `kubectl -n ${metallb} patch ipaddresspools.metallb.io ${pool} --type=merge -p '{"spec":{"autoAssign":false,"serviceAllocation":{"namespaces":["${owner}"]}}}'`,
  description: `Without a scope MetalLB gives an address to whoever asks, and with \`autoAssign\` also to whoever does not: the first
Service of type LoadBalancer that somebody creates anywhere may get the address that was planned for keystone. Selectors that
match nothing have the same effect, which few expect.`,
  example: { pool: 'openstack-internalapi', owner: 'openstack', metallb: 'metallb-system', why: 'no scope' },
})

export const notAdvertised = problem<{ pool: string; services: number; metallb: string }>({
  code: 'SL9526',
  severity: 'error',
  title: 'Addresses are given and nobody announces them',
  message: ({ pool, services }) =>
    `pool ${pool} has ${services} ${services === 1 ? 'Service' : 'Services'} with addresses, and no L2Advertisement or BGPAdvertisement names it: nobody answers for them`,
  remedy: ({ pool, metallb }) =>
    `stackloom up --stage metallb-config; without a site file create an L2Advertisement in ${metallb} with ipAddressPools: [${pool}] and the interface of its network`,
  description: `Giving an address and announcing it are two things. A Service whose pool no advertisement names looks healthy, has its
address, and answers nobody.`,
  example: { pool: 'openstack-storage', services: 2, metallb: 'metallb-system' },
})

export const unknownPoolAdvertised = problem<{
  advertisement: string
  pool: string
  known: string | undefined
}>({
  code: 'SL9527',
  severity: 'warning',
  title: 'An advertisement names a pool that does not exist',
  message: ({ pool, known }) =>
    `it names the pool ${pool}, which does not exist${known === undefined ? '' : `; there is ${known}`}: MetalLB passes over it in silence`,
  remedy: ({ known }) =>
    known === undefined
      ? 'delete the advertisement if its pool is gone for good'
      : `name ${known} in spec.ipAddressPools`,
  description: `MetalLB does not report a pool name that it does not find in an advertisement. After pools were renamed, the old
advertisements announce nothing, and the new pools are not announced either.`,
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
  title: 'An advertisement names a port of a bridge',
  message: ({ port, bridge, node }) =>
    `it announces on ${port}, which is a port of ${bridge} on node ${node}: MetalLB answers no ARP there`,
  remedy: ({ bridge, metallb, advertisement }) =>
    `kubectl -n ${metallb} patch l2advertisements.metallb.io ${advertisement} --type=merge -p '{"spec":{"interfaces":["${bridge}"]}}'`,
  description: `The speaker answers on interfaces that are up and belong to no bridge or bond. A NIC that was put into a bridge no
longer counts: the bridge has its place, and the advertisement must name it.`,
  example: {
    port: 'enp6s0',
    bridge: 'ospbr',
    node: 'worker-0',
    metallb: 'metallb-system',
    advertisement: 'openstack-ctlplane',
  },
})

export const interfaceNowhere = problem<{ interface: string; known: string | undefined }>({
  code: 'SL9529',
  severity: 'error',
  title: 'An advertisement names an interface that no node has',
  message: ({ interface: name, known }) =>
    `it announces on ${name}, which no node has${known === undefined ? '' : `; there is ${known}`}: nobody answers for its pools`,
  remedy: () =>
    'correct spec.interfaces, or make the interface: kubectl get nncp,nnce shows whether its policy was taken (stackloom up --stage nncp)',
  description: `The speaker answers on the named interfaces only. A name that no node has means silence, without an error anywhere.`,
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
  title: 'The node that is to announce has not got the VLAN',
  message: ({ interface: name, missing, service }) =>
    service === undefined
      ? `it announces on ${name}, which ${missing.join(', ')} ${missing.length === 1 ? 'has' : 'have'} not got, and has no nodeSelectors: such a node may be chosen, and then nobody answers`
      : `Service ${service} is announced by ${missing.join(', ')}, which has not got ${name}: nobody answers`,
  remedy: ({ having }) =>
    `add nodeSelectors for the nodes that have it: matchExpressions kubernetes.io/hostname In [${having.join(', ')}]`,
  description: `In layer 2 mode one node answers for an address, chosen among all that run a speaker. The list of interfaces has no say
in that choice: a node without the VLAN can win, and then says nothing. \`nodeSelectors\` of the advertisement decide who may.`,
  example: {
    interface: 'enp6s0.20',
    missing: ['worker-3'],
    service: undefined,
    having: ['worker-0', 'worker-1'],
  },
})

export const keyAcrossClouds = problem<{
  key: string
  holders: readonly string[]
  address: string | undefined
}>({
  code: 'SL9531',
  severity: 'error',
  title: 'Two clouds use one sharing key',
  message: ({ key, holders, address }) =>
    `${holders.join(' and ')} use the sharing key ${key}${address === undefined ? ': MetalLB may put them on one address' : `, and share ${address}`}`,
  remedy: () =>
    "give each cloud a key of its own (metallb.io/allow-shared-ip: <namespace>-<network>) in its control plane's override",
  description: `MetalLB compares sharing keys as texts; the namespace is no part of them. Two clouds with the samples' key
\`internalapi\` may be given one address, ports permitting: requests of one cloud then reach the other's service.`,
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
  title: 'A RabbitMQ is to share an address',
  message: ({ address, key, other, port }) =>
    `it shares ${address ?? `the key ${key}`} with ${other}, and both listen on ${port}: only one of them can have the address`,
  remedy: () =>
    "give each RabbitMQ an address of its own and no metallb.io/allow-shared-ip in the control plane's override (rabbitmq.templates.<name>.override.service)",
  description: `Every RabbitMQ of a cloud listens on the same ports, so no two can live on one address: whichever comes second stays
pending, and its cell has no message bus. The APIs of a network may share one.`,
  example: { address: '172.17.0.85', key: undefined, other: 'openstack/rabbitmq-cell1', port: 'TCP/5671' },
})

export const leftoverPool = problem<{ pool: string; clouds: readonly string[]; metallb: string }>({
  code: 'SL9533',
  severity: 'warning',
  title: 'An unprefixed pool is left beside those of the clouds',
  message: ({ pool, clouds }) =>
    `pool ${pool} is nobody's: the pools of ${clouds.join(' and ')} carry their namespace, and nothing asks for this one`,
  remedy: ({ pool, metallb }) =>
    `kubectl -n ${metallb} delete ipaddresspools.metallb.io ${pool}; look first that status.assignedIPv4 is 0`,
  description: `\`make openstack\` of install_yamls renders pools for a cloud that nobody asked for, without a prefix. They stand in the
way of the next cloud's pools ("overlaps with already defined CIDR") and serve every namespace.`,
  example: { pool: 'ctlplane', clouds: ['openstack', 'openstack2'], metallb: 'metallb-system' },
})

export const poolNotPlanned = problem<{
  pool: string
  planned: string
  live: string
  what: 'ranges' | 'missing'
}>({
  code: 'SL9534',
  severity: 'error',
  title: 'A pool is not as the site file plans it',
  message: ({ pool, planned, live, what }) =>
    what === 'missing'
      ? `pool ${pool} (${planned}) is planned and does not exist`
      : `pool ${pool} holds ${live} where ${planned} is planned`,
  remedy: () => 'stackloom diff shows who changed it; stackloom up --stage metallb-config sets it right',
  description: `The plan gives each pool its ranges, clear of nodes, pods and hosts of its subnet. A pool that was edited or overwritten
gives addresses that somebody else may hold, and takes away those that Services already have.`,
  example: {
    pool: 'openstack-internalapi',
    planned: '172.17.0.80-172.17.0.90',
    live: '172.27.0.80-172.27.0.90',
    what: 'ranges',
  },
})
