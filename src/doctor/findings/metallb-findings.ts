/** SL9520 to SL9539: MetalLB's pools and advertisements. */
import { problem } from '../../errors/finding.ts'

const editPool = (pool: string, metallb: string): string =>
  `\`kubectl -n ${metallb} edit ipaddresspools.metallb.io ${pool}\``

const limitPool = (pool: string, namespace: string, metallb: string): string =>
  `\`kubectl -n ${metallb} patch ipaddresspools.metallb.io ${pool} --type=merge -p '{"spec":{"autoAssign":false,"serviceAllocation":{"namespaces":["${namespace}"]}}}'\``

export const samePoolName = problem<{ pool: string; holder: string; losers: readonly string[]; ranges: string }>({
  code: 'SL9520',
  severity: 'error',
  message: ({ pool, holder, losers, ranges }) =>
    `${[holder, ...losers].join(' and ')} request pool ${pool}, but only one object of that name can exist: it now has ${ranges} for ${holder}, and the ranges of ${losers.join(', ')} are lost`,
  remedy: ({ pool, holder, losers }) =>
    `give each cloud its own pool, ${[holder, ...losers].map((cloud) => `${cloud}-${pool}`).join(' and ')}: \`stackloom import --source cluster\`, \`stackloom plan\`, \`stackloom adopt\``,
})

export const wrongRange = problem<{
  pool: string
  owner: string
  taker: string
  services: readonly string[]
  scope: readonly string[]
  metallb: string
  isGuessed: boolean
}>({
  code: 'SL9521',
  severity: 'error',
  message: ({ pool, owner, taker, services, scope, isGuessed }) =>
    `${taker} has addresses of pool ${pool}, which ${isGuessed ? `is in a network of ${owner}` : `belongs to ${owner}`} (${services.join(', ')}): ${scope.length === 0 ? 'the pool has no serviceAllocation.namespaces, so it serves every namespace' : `its serviceAllocation.namespaces is ${scope.join(', ')}`}`,
  remedy: ({ pool, owner, metallb, isGuessed }) =>
    isGuessed
      ? `if ${pool} is not the pool of ${owner}, give it ranges outside the cloud's networks: ${editPool(pool, metallb)}; otherwise ${limitPool(pool, owner, metallb)}; the Service loses the address immediately`
      : `${limitPool(pool, owner, metallb)}; the Service loses the address immediately, so set its own pool in its control plane first`,
})

export const manyRanges = problem<{
  pool: string
  ranges: readonly string[]
  namespaces: readonly string[]
  first: string
}>({
  code: 'SL9522',
  severity: 'error',
  message: ({ pool, ranges, namespaces, first }) =>
    `pool ${pool} has ${ranges.length} ranges for ${namespaces.join(', ')}: MetalLB serves all of them from the first (${first}) until it is full`,
  remedy: ({ pool, namespaces }) =>
    `create one pool per cloud: ${namespaces.map((namespace) => `${namespace}-${pool.split('-').at(-1)}`).join(', ')} (\`stackloom plan\`, \`stackloom up\`)`,
})

export const poolsOverlap = problem<{ pool: string; other: string; range: string; metallb: string }>({
  code: 'SL9523',
  severity: 'error',
  message: ({ pool, other, range }) => `pools ${pool} and ${other} both contain ${range}`,
  remedy: ({ pool, other, metallb }) =>
    `remove the range from the pool that does not own it: ${editPool(pool, metallb)} (or ${other})`,
})

export const configurationRefused = problem<{ program: string; reason: string }>({
  code: 'SL9524',
  severity: 'error',
  message: ({ program, reason }) => `${program} uses an old configuration: ${reason}`,
  remedy: () => 'correct the object in the message; until then changes of pools and advertisements have no effect',
})

export const openPool = problem<{
  pool: string
  owner: string
  metallb: string
  why: 'no scope' | 'empty selector'
  isGuessed: boolean
}>({
  code: 'SL9525',
  severity: 'warning',
  message: ({ pool, owner, why, isGuessed }) => {
    const ofCloud = isGuessed ? `pool ${pool}, which is in a network of ${owner},` : `pool ${pool} of ${owner}`
    return why === 'no scope'
      ? `${ofCloud} has no serviceAllocation.namespaces: any Service of the cluster can get its addresses`
      : `${ofCloud} has namespaceSelectors that match no namespace: MetalLB then serves every namespace`
  },
  remedy: ({ pool, owner, metallb, isGuessed }) =>
    isGuessed
      ? `set serviceAllocation.namespaces to the namespaces that the pool is for, and its ranges outside the networks of ${owner} if another team has it: ${editPool(pool, metallb)}`
      : limitPool(pool, owner, metallb),
})

export const notAdvertised = problem<{ pool: string; services: number; metallb: string }>({
  code: 'SL9526',
  severity: 'error',
  message: ({ pool, services }) =>
    `pool ${pool} has ${services} ${services === 1 ? 'Service' : 'Services'} with addresses, but no L2Advertisement or BGPAdvertisement selects it: no node answers for them`,
  remedy: ({ pool, metallb }) =>
    `run \`stackloom up --stage metallb-config\`; without a site file, create an L2Advertisement in ${metallb} with ipAddressPools: [${pool}] and the interface of its network`,
})

export const unknownPoolAdvertised = problem<{ advertisement: string; pool: string; known: string | undefined }>({
  code: 'SL9527',
  severity: 'warning',
  message: ({ pool, known }) =>
    `it refers to pool ${pool}, which does not exist${known === undefined ? '' : `; did you mean ${known}?`} MetalLB ignores it silently`,
  remedy: ({ known }) =>
    known === undefined
      ? 'run `stackloom up --stage metallb-config` to create the pool again; delete the advertisement if the pool was removed permanently'
      : `set spec.ipAddressPools to ${known}`,
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
  message: ({ port, bridge, node }) =>
    `it announces on ${port}, which is a port of ${bridge} on node ${node}: MetalLB does not answer ARP there`,
  remedy: ({ bridge, metallb, advertisement }) =>
    `\`kubectl -n ${metallb} patch l2advertisements.metallb.io ${advertisement} --type=merge -p '{"spec":{"interfaces":["${bridge}"]}}'\``,
})

export const interfaceMissing = problem<{ interface: string; known: string | undefined }>({
  code: 'SL9529',
  severity: 'error',
  message: ({ interface: name, known }) =>
    `it announces on ${name}, which no node has${known === undefined ? '' : ` (there is ${known})`}: no node answers for its pools`,
  remedy: () =>
    'correct spec.interfaces, or create the interface (`stackloom up --stage nncp`); `kubectl get nncp,nnce` shows whether its policy was applied',
})

export const leaderWithoutInterface = problem<{
  interface: string
  missing: readonly string[]
  service: string | undefined
  having: readonly string[]
}>({
  code: 'SL9530',
  severity: 'error',
  message: ({ interface: name, missing, service }) =>
    service === undefined
      ? `it announces on ${name}, which ${missing.join(', ')} ${missing.length === 1 ? 'does' : 'do'} not have, and has no nodeSelectors: if such a node is chosen, no node answers`
      : `Service ${service} is announced by ${missing.join(', ')}, which does not have ${name}: no node answers`,
  remedy: ({ having }) =>
    `add nodeSelectors for the nodes that have it: matchExpressions kubernetes.io/hostname In [${having.join(', ')}]`,
})

export const keyAcrossClouds = problem<{ key: string; holders: readonly string[]; address: string | undefined }>({
  code: 'SL9531',
  severity: 'error',
  message: ({ key, holders, address }) =>
    `${holders.join(' and ')} use the sharing key ${key}${address === undefined ? ': MetalLB may assign them one address' : ` and share ${address}`}`,
  remedy: () =>
    'give each cloud its own key (metallb.io/allow-shared-ip: <namespace>-<network>) in the override of its control plane',
})

export const rabbitShares = problem<{
  address: string | undefined
  key: string | undefined
  other: string
  port: string
}>({
  code: 'SL9532',
  severity: 'error',
  message: ({ address, key, other, port }) =>
    `it shares ${address ?? `the key ${key}`} with ${other}, and both listen on ${port}: only one of them can get the address`,
  remedy: () =>
    "give each RabbitMQ its own address and remove metallb.io/allow-shared-ip in the control plane's override (rabbitmq.templates.<name>.override.service)",
})

export const leftoverPool = problem<{ pool: string; clouds: readonly string[]; metallb: string }>({
  code: 'SL9533',
  severity: 'warning',
  message: ({ pool, clouds }) =>
    `pool ${pool} belongs to no cloud: the pools of ${clouds.join(' and ')} start with the namespace, and no Service requests this one`,
  remedy: ({ pool, metallb }) =>
    `check that status.assignedIPv4 is 0, then: \`kubectl -n ${metallb} delete ipaddresspools.metallb.io ${pool}\``,
})

export const poolNotPlanned = problem<{ pool: string; planned: string; live: string; what: 'ranges' | 'missing' }>({
  code: 'SL9534',
  severity: 'error',
  message: ({ pool, planned, live, what }) =>
    what === 'missing'
      ? `pool ${pool} (${planned}) is planned but does not exist`
      : `pool ${pool} has ${live}, planned is ${planned}`,
  remedy: () => 'run `stackloom diff` to see the change, and `stackloom up --stage metallb-config` to restore the plan',
})

export const frrNamespace = problem<{
  configuration: string
  cloud: string
  namespace: string
  running: readonly string[]
}>({
  code: 'SL9535',
  severity: 'error',
  message: ({ configuration, cloud, namespace, running }) =>
    `BGPConfiguration ${configuration} of ${cloud} writes its FRRConfigurations to namespace ${namespace}, but frr-k8s runs in ${running.join(' and ')} and reads only those there: routes to the pods are not announced`,
  remedy: ({ configuration, cloud, running }) =>
    `\`kubectl -n ${cloud} patch bgpconfigurations.network.openstack.org ${configuration} --type=merge -p '{"spec":{"frrConfigurationNamespace":"${running[0] ?? ''}"}}'\``,
})
