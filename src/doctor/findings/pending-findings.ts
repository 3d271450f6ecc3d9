/** SL9501 to SL9519: why a LoadBalancer Service has no address, in the order in which MetalLB decides. */
import { problem } from '../../errors/finding.ts'

/** What every case of a pending Service knows. */
interface PendingFacts {
  readonly namespace: string
  readonly service: string
}

const describe = ({ namespace, service }: PendingFacts): string => `kubectl -n ${namespace} describe service ${service}`
const example = { namespace: 'openstack2', service: 'keystone-internal' }

const annotate = ({ namespace, service }: PendingFacts, annotation: string): string =>
  `kubectl -n ${namespace} annotate service ${service} --overwrite ${annotation}`

export const pendingUnknownPool = problem<PendingFacts & { pool: string; nearest: string | undefined }>({
  code: 'SL9501',
  severity: 'error',
  title: 'Pending: the Service asks for a pool that does not exist',
  message: ({ pool, nearest }) =>
    `it has no address: there is no pool ${pool}${nearest === undefined ? '' : `, but there is ${nearest}`}`,
  remedy: (facts) =>
    facts.nearest === undefined
      ? `create the pool (stackloom up --stage metallb-config), or name another one in the control plane's override; kubectl -A get ipaddresspools.metallb.io lists them`
      : `name ${facts.nearest} in the control plane's override; until the operator has passed it on: ${annotate(facts, `metallb.io/address-pool=${facts.nearest}`)}`,
  description: `A Service may name its pool, and MetalLB then looks for that name and no other: there is no second choice. The
samples of upstream ask for \`internalapi\`; a site with several clouds has \`<namespace>-internalapi\`. The name stands in
the control plane's override of that service, and the annotation on the Service is a copy: the control plane is what to
change, or \`stackloom adopt\` for a cloud that other tools have deployed.`,
  example: { ...example, pool: 'internalapi', nearest: 'openstack2-internalapi' },
})

export const pendingNotForNamespace = problem<
  PendingFacts & {
    pool: string
    serves: string
    metallb: string
    own: string | undefined
    asked: string | undefined
  }
>({
  code: 'SL9502',
  severity: 'error',
  title: 'Pending: the pool is not for this namespace',
  message: ({ pool, serves, asked, namespace }) =>
    `it has no address: ${asked === undefined ? `pool ${pool}` : `${asked} is of pool ${pool}, which`} serves ${serves}, not ${namespace}`,
  remedy: ({ own, pool, namespace, metallb }) =>
    own === undefined
      ? `if ${pool} is this cloud's: kubectl -n ${metallb} patch ipaddresspools.metallb.io ${pool} --type=merge -p '{"spec":{"serviceAllocation":{"namespaces":["${namespace}"]}}}'; otherwise give ${namespace} a pool of its own (stackloom plan, stackloom up)`
      : `use this cloud's own pool ${own} in the control plane's override of this service`,
  description: `\`serviceAllocation\` of a pool says which namespaces and Services it serves. MetalLB refuses all others, also when
they ask by name or by address, and looks for no other pool: the Service stays pending. It says "pool … not compatible for ip
assignment". Either the Service asks for another cloud's pool, or the pool's scope is wrong.`,
  example: {
    ...example,
    pool: 'openstack-internalapi',
    serves: 'openstack',
    metallb: 'metallb-system',
    own: 'openstack2-internalapi',
    asked: undefined,
  },
})

export const pendingExhausted = problem<PendingFacts & { pool: string; ranges: string; size: string; metallb: string }>(
  {
    code: 'SL9503',
    severity: 'error',
    title: 'Pending: the pool has no free address',
    message: ({ pool, ranges, size }) => `it has no address: all ${size} of pool ${pool} (${ranges}) are in use`,
    remedy: ({ pool, metallb }) =>
      `widen the span vips in the site file and deploy it (stackloom plan, stackloom up); without a site file: kubectl -n ${metallb} edit ipaddresspools.metallb.io ${pool}; or let the Service share an address with metallb.io/allow-shared-ip`,
    description: `Every address of the pool is held by a Service that does not share it with this one. MetalLB before 0.16 words it badly
(\`["<nil>"] is not allowed in config\`).

Services share when they carry the same \`metallb.io/allow-shared-ip\` and no port is used twice; a RabbitMQ cannot, since all
of them have the same ports. A pool that is widened must stay clear of the other owners of the subnet: nodes, pods, data plane
hosts. \`stackloom plan\` proves that, an editor does not.`,
    example: {
      ...example,
      pool: 'openstack2-internalapi',
      ranges: '172.27.0.80-172.27.0.82',
      size: '3',
      metallb: 'metallb-system',
    },
  },
)

export const pendingNotInPool = problem<PendingFacts & { asked: string; own: string | undefined; metallb: string }>({
  code: 'SL9504',
  severity: 'error',
  title: 'Pending: the address that is asked for is in no pool',
  message: ({ asked }) => `it has no address: it asks for ${asked}, which is in no pool`,
  remedy: ({ own, metallb }) =>
    `${own === undefined ? 'ask for an address of one of the pools' : `ask for an address of ${own}`} in the control plane's override; kubectl -n ${metallb} get ipaddresspools.metallb.io shows their ranges`,
  description: `\`metallb.io/loadBalancerIPs\` asks for one address, and MetalLB gives that one or none ("is not allowed in config").
It happens when a pool was moved to another range under the Services that had addresses of the old one: since MetalLB 0.14
they lose them at once. It also happens when a sample with 172.17.0.80 is deployed into a cloud that has 172.27.0.0/24.`,
  example: { ...example, asked: '172.17.0.80', own: 'openstack2-internalapi', metallb: 'metallb-system' },
})

export const pendingOtherPool = problem<PendingFacts & { asked: string; wanted: string; pool: string }>({
  code: 'SL9505',
  severity: 'error',
  title: 'Pending: the address is of another pool than the one asked for',
  message: ({ asked, wanted, pool }) =>
    `it has no address: it asks for ${asked} and for pool ${wanted}, but ${asked} is of pool ${pool}`,
  remedy: (facts) =>
    `make both agree in the control plane's override; until then: ${annotate(facts, `metallb.io/address-pool=${facts.pool}`)}`,
  description: `A Service that names a pool and an address must name the pool that holds the address; MetalLB gives neither
otherwise ("is not compatible with requested address pool").`,
  example: {
    ...example,
    asked: '172.27.0.80',
    wanted: 'openstack2-storage',
    pool: 'openstack2-internalapi',
  },
})

export const pendingPortClash = problem<PendingFacts & { asked: string; port: string; holder: string }>({
  code: 'SL9506',
  severity: 'error',
  title: 'Pending: a port is already used on the shared address',
  message: ({ asked, port, holder }) =>
    `it has no address: ${port} on ${asked} is already used by Service ${holder}, which shares the address`,
  remedy: () =>
    "give it an address of its own: another metallb.io/loadBalancerIPs in the control plane's override, or none beside a pool with a free one",
  description: `Services with one sharing key may live on one address as long as no two of them have the same port. Every RabbitMQ
has the same ports, so each needs its own address; so do two glance APIs or two cells' proxies.`,
  example: {
    namespace: 'openstack',
    service: 'rabbitmq-cell1',
    asked: '172.17.0.85',
    port: 'TCP/5671',
    holder: 'openstack/rabbitmq',
  },
})

export const pendingSharingRefused = problem<
  PendingFacts & { asked: string; holder: string; key: string | undefined; holderKey: string | undefined }
>({
  code: 'SL9507',
  severity: 'error',
  title: 'Pending: somebody else has the address and does not share it',
  message: ({ asked, holder, key, holderKey }) =>
    `it has no address: ${asked} is held by Service ${holder} with ${word(holderKey)}, and this one has ${word(key)}`,
  remedy: (facts) => {
    const { holderKey, holder, namespace } = facts
    return holderKey !== undefined && holder.startsWith(`${namespace}/`)
      ? `to share it: ${annotate(facts, `metallb.io/allow-shared-ip=${holderKey}`)}; otherwise ask for another address`
      : "ask for an address that is free: another metallb.io/loadBalancerIPs in the control plane's override"
  },
  description: `Two Services get one address only if both carry the same, non-empty \`metallb.io/allow-shared-ip\`. MetalLB compares
the texts and nothing else: the namespace does not count, so the key of a cloud must be the cloud's own.`,
  example: {
    ...example,
    asked: '172.27.0.80',
    holder: 'openstack2/placement-internal',
    key: undefined,
    holderKey: 'openstack2-internalapi',
  },
})

function word(key: string | undefined): string {
  return key === undefined ? 'no sharing key' : `the sharing key ${key}`
}

export const pendingStaleAnnotation = problem<
  PendingFacts & { annotation: string; value: string; stable: string; better: string | undefined }
>({
  code: 'SL9508',
  severity: 'error',
  title: 'Pending: an annotation that nobody asks for any more',
  message: ({ annotation, value, stable }) =>
    `it has no address: ${annotation}: ${value} is left from an earlier control plane, and no ${stable} beats it`,
  remedy: (facts) => {
    const { namespace, service, annotation, stable, better } = facts
    return better === undefined
      ? `take it away: kubectl -n ${namespace} annotate service ${service} ${annotation}-`
      : `${annotate(facts, `${stable}=${better}`)} and put the same into the control plane's override`
  },
  description: `The operators merge annotations into a Service and never remove one. When the control plane's override changes or
drops a value, the old one may stay on the Service, and MetalLB still honours the old \`metallb.universe.tf/\` spelling. The
\`metallb.io/\` spelling wins where both are there, even when it is empty: that is how \`stackloom adopt\` moves a cloud.`,
  example: {
    ...example,
    annotation: 'metallb.universe.tf/address-pool',
    value: 'internalapi',
    stable: 'metallb.io/address-pool',
    better: 'openstack2-internalapi',
  },
})

export const pendingNoPools = problem<PendingFacts>({
  code: 'SL9509',
  severity: 'error',
  title: 'Pending: MetalLB has no pool at all',
  message: () => 'it has no address: there is no IPAddressPool in the cluster',
  remedy: () => 'stackloom up --stage metallb-config brings the pools of the site back, and every Service asks again',
  description: `With no pool MetalLB takes the address of every LoadBalancer Service in the cluster. It happens when the pools were
deleted with MetalLB, or by \`make metallb_config\` of install_yamls, which deletes the pools that it rendered last before it
creates the next.`,
  example,
})

export const pendingNoAutoAssign = problem<PendingFacts & { pools: readonly string[] }>({
  code: 'SL9510',
  severity: 'error',
  title: 'Pending: the Service asks for no pool, and none serves everybody',
  message: ({ namespace }) =>
    `it has no address: it names no pool, and no pool gives addresses to ${namespace} unasked`,
  remedy: ({ pools }) =>
    pools.length === 0
      ? 'name a pool in the override of this service (metallb.io/address-pool)'
      : `name a pool in the override of this service (metallb.io/address-pool): ${pools.join(', ')}`,
  description: `A Service without wishes gets an address of a pool with \`autoAssign\` that serves its namespace. The pools of clouds
have \`autoAssign: false\`, so that no Service takes an address that nobody planned. A Service of a control plane without
annotations usually means a slot whose override was not rendered: \`stackloom slots\` lists them.`,
  example: { ...example, pools: ['openstack2-internalapi'] },
})

export const pendingTwoRequests = problem<PendingFacts>({
  code: 'SL9511',
  severity: 'error',
  title: 'Pending: the address is asked for in two ways',
  message: () =>
    'it has no address: it has spec.loadBalancerIP and the annotation loadBalancerIPs, and MetalLB takes only one',
  remedy: ({ namespace, service }) =>
    `kubectl -n ${namespace} patch service ${service} --type=json -p '[{"op":"remove","path":"/spec/loadBalancerIP"}]'`,
  description: `\`spec.loadBalancerIP\` is deprecated in Kubernetes and holds one address; the annotation holds one of each family.
MetalLB refuses a Service with both ("service can not have both").`,
  example,
})

export const pendingWrongFamily = problem<PendingFacts & { asked: string; families: string }>({
  code: 'SL9512',
  severity: 'error',
  title: 'Pending: the address is not of the family of the Service',
  message: ({ asked, families }) => `it has no address: it asks for ${asked}, but it is a Service of ${families}`,
  remedy: () =>
    "ask for an address of its family, or set spec.ipFamilyPolicy and ipFamilies in the control plane's override",
  description: `The family of a Service is decided when it is created, from \`ipFamilies\` or from the cluster's first service network.
MetalLB gives it an address of that family only ("does not match the ipFamily of the service").`,
  example: { ...example, asked: 'fd00:17::80', families: 'IPv4' },
})

export const pendingNoAddress = problem<PendingFacts & { asked: string }>({
  code: 'SL9513',
  severity: 'error',
  title: 'Pending: what is asked for is not an address',
  message: ({ asked }) => `it has no address: it asks for ${JSON.stringify(asked)}, which is not an IP address`,
  remedy: () => "correct metallb.io/loadBalancerIPs in the control plane's override: addresses, with commas between",
  description: 'MetalLB reads `metallb.io/loadBalancerIPs` as one address, or one of each family with a comma between.',
  example: { ...example, asked: '172.27.0.80/24' },
})

export const pendingOtherClass = problem<PendingFacts & { loadBalancerClass: string }>({
  code: 'SL9514',
  severity: 'warning',
  title: 'Pending: the Service is for another load balancer',
  message: ({ loadBalancerClass }) =>
    `it has no address: its loadBalancerClass is ${loadBalancerClass}, and MetalLB serves Services without a class unless it is told otherwise`,
  remedy: () =>
    'if MetalLB is to serve it, create the Service anew without spec.loadBalancerClass (the field cannot be changed), or start MetalLB with --lb-class',
  description:
    '`spec.loadBalancerClass` says whose business a Service is. MetalLB takes those with the class of its `--lb-class`, and without that flag those with none.',
  example: { ...example, loadBalancerClass: 'example.com/other' },
})

export const pendingUnexplained = problem<PendingFacts & { said: boolean }>({
  code: 'SL9515',
  severity: 'error',
  title: 'Pending: a Service has no address',
  message: ({ said }) =>
    said
      ? 'it has no address; MetalLB says why'
      : 'it has no address, though a pool could give one, and MetalLB has said nothing',
  remedy: (facts) =>
    facts.said
      ? describe(facts)
      : `see whether MetalLB's controller runs: kubectl -A get pods -l component=controller; then ${describe(facts)}`,
  description: `MetalLB's events are the last word on a Service without an address. Where there is none, its controller does not run,
does not see the Service, or has refused the whole configuration (the object ConfigurationState says so since 0.15.3).`,
  example: { ...example, said: true },
})
