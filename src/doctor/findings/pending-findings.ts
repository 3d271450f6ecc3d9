/** SL9501 to SL9519: why a LoadBalancer Service has no address, in the order in which MetalLB decides. */
import { problem } from '../../errors/finding.ts'

/** The facts of every pending Service. */
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
  title: 'Pending: the Service requests a pool that does not exist',
  message: ({ pool, nearest }) =>
    `it has no address: there is no pool ${pool}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`,
  remedy: (facts) =>
    facts.nearest === undefined
      ? `create the pool (stackloom up --stage metallb-config), or set another one in the control plane's override; kubectl -A get ipaddresspools.metallb.io lists them`
      : `set ${facts.nearest} in the control plane's override; until the operator has applied it: ${annotate(facts, `metallb.io/address-pool=${facts.nearest}`)}`,
  description: `A Service may request a pool by name, and MetalLB then uses only that pool. The upstream samples request \`internalapi\`; a site
with several clouds has \`<namespace>-internalapi\`. The annotation of the Service is a copy of the override in the control
plane, so change the control plane, or run \`stackloom adopt\` for a cloud that was deployed by other tools.`,
  example: { ...example, pool: 'internalapi', nearest: 'openstack2-internalapi' },
})

export const pendingNotForNamespace = problem<
  PendingFacts & {
    pool: string
    serves: string
    metallb: string
    cloudPool: string | undefined
    asked: string | undefined
  }
>({
  code: 'SL9502',
  severity: 'error',
  title: 'Pending: the pool does not serve this namespace',
  message: ({ pool, serves, asked, namespace }) =>
    `it has no address: ${asked === undefined ? `pool ${pool}` : `${asked} is in pool ${pool}, which`} serves ${serves}, not ${namespace}`,
  remedy: ({ cloudPool, pool, namespace, metallb }) =>
    cloudPool === undefined
      ? `if ${pool} belongs to this cloud: kubectl -n ${metallb} patch ipaddresspools.metallb.io ${pool} --type=merge -p '{"spec":{"serviceAllocation":{"namespaces":["${namespace}"]}}}'; otherwise create a pool for ${namespace} (stackloom plan, stackloom up)`
      : `use this cloud's own pool ${cloudPool} in the control plane's override of this service`,
  description: `\`serviceAllocation\` of a pool defines which namespaces and Services it serves. MetalLB rejects all others, even if they request
the pool by name or by address, and does not try another pool: the Service stays pending with the event "pool … not compatible
for ip assignment". Either the Service requests another cloud's pool, or the scope of the pool is wrong.`,
  example: {
    ...example,
    pool: 'openstack-internalapi',
    serves: 'openstack',
    metallb: 'metallb-system',
    cloudPool: 'openstack2-internalapi',
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
      `extend the vips span in the site file and deploy it (stackloom plan, stackloom up); without a site file: kubectl -n ${metallb} edit ipaddresspools.metallb.io ${pool}; or let the Service share an address with metallb.io/allow-shared-ip`,
    description: `Every address of the pool is used by a Service that does not share it with this one. MetalLB before 0.16 reports it as
\`["<nil>"] is not allowed in config\`.

Services share an address if they have the same \`metallb.io/allow-shared-ip\` and no port is used twice; RabbitMQ Services cannot
share, because they all have the same ports. An extended pool must not overlap with nodes, pods and data plane hosts of the
subnet. \`stackloom plan\` checks this.`,
    example: {
      ...example,
      pool: 'openstack2-internalapi',
      ranges: '172.27.0.80-172.27.0.82',
      size: '3',
      metallb: 'metallb-system',
    },
  },
)

export const pendingNotInPool = problem<
  PendingFacts & { asked: string; cloudPool: string | undefined; metallb: string }
>({
  code: 'SL9504',
  severity: 'error',
  title: 'Pending: the requested address is in no pool',
  message: ({ asked }) => `it has no address: it requests ${asked}, which is in no pool`,
  remedy: ({ cloudPool, metallb }) =>
    `${cloudPool === undefined ? 'request an address of one of the pools' : `request an address of ${cloudPool}`} in the control plane's override; kubectl -n ${metallb} get ipaddresspools.metallb.io shows their ranges`,
  description: `\`metallb.io/loadBalancerIPs\` requests one address, and MetalLB assigns that address or none ("is not allowed in config"). This
happens when the range of a pool is changed while Services use the old range: since MetalLB 0.14 they lose their addresses
immediately. It also happens when a sample with 172.17.0.80 is deployed into a cloud with 172.27.0.0/24.`,
  example: { ...example, asked: '172.17.0.80', cloudPool: 'openstack2-internalapi', metallb: 'metallb-system' },
})

export const pendingOtherPool = problem<PendingFacts & { asked: string; wanted: string; pool: string }>({
  code: 'SL9505',
  severity: 'error',
  title: 'Pending: the requested address is not in the requested pool',
  message: ({ asked, wanted, pool }) =>
    `it has no address: it requests ${asked} and pool ${wanted}, but ${asked} is in pool ${pool}`,
  remedy: (facts) =>
    `correct the address or the pool in the control plane's override; until then: ${annotate(facts, `metallb.io/address-pool=${facts.pool}`)}`,
  description: `A Service that requests both a pool and an address must request the pool that contains the address; otherwise MetalLB assigns
nothing ("is not compatible with requested address pool").`,
  example: { ...example, asked: '172.27.0.80', wanted: 'openstack2-storage', pool: 'openstack2-internalapi' },
})

export const pendingPortClash = problem<PendingFacts & { asked: string; port: string; holder: string }>({
  code: 'SL9506',
  severity: 'error',
  title: 'Pending: a port is already used on the shared address',
  message: ({ asked, port, holder }) =>
    `it has no address: ${port} on ${asked} is already used by Service ${holder}, which shares the address`,
  remedy: () =>
    "give it its own address: set another metallb.io/loadBalancerIPs in the control plane's override, or remove it if the pool has a free address",
  description: `Services with the same sharing key may share an address as long as their ports differ. Every RabbitMQ has the same ports, so
each needs its own address; the same is true for two glance APIs or the proxies of two cells.`,
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
  title: 'Pending: another Service has the address and does not share it',
  message: ({ asked, holder, key, holderKey }) =>
    `it has no address: ${asked} is held by Service ${holder} with ${word(holderKey)}, and this one has ${word(key)}`,
  remedy: (facts) => {
    const { holderKey, holder, namespace } = facts
    return holderKey !== undefined && holder.startsWith(`${namespace}/`)
      ? `to share it: ${annotate(facts, `metallb.io/allow-shared-ip=${holderKey}`)}; otherwise request another address`
      : "request a free address: set another metallb.io/loadBalancerIPs in the control plane's override"
  },
  description: `Two Services get one address only if both have the same non-empty \`metallb.io/allow-shared-ip\`. MetalLB compares only the
strings and ignores the namespace, so each cloud must use its own key.`,
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
  title: 'Pending: an outdated annotation is left on the Service',
  message: ({ annotation, value, stable }) =>
    `it has no address: ${annotation}: ${value} is left from an earlier control plane, and ${stable} is not set`,
  remedy: (facts) => {
    const { namespace, service, annotation, stable, better } = facts
    return better === undefined
      ? `remove it: kubectl -n ${namespace} annotate service ${service} ${annotation}-`
      : `${annotate(facts, `${stable}=${better}`)} and set the same value in the control plane's override`
  },
  description: `The operators merge annotations into a Service and never remove one. When the override of the control plane changes or drops a
value, the old annotation may stay on the Service, and MetalLB still reads the deprecated prefix \`metallb.universe.tf/\`. The
prefix \`metallb.io/\` takes precedence, even with an empty value: \`stackloom adopt\` relies on this.`,
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
  title: 'Pending: MetalLB has no pool',
  message: () => 'it has no address: there is no IPAddressPool in the cluster',
  remedy: () => 'run stackloom up --stage metallb-config to restore the pools of the site; all Services are retried',
  description: `Without any pool MetalLB removes the address of every LoadBalancer Service in the cluster. This happens when the pools were
deleted with MetalLB, or by \`make metallb_config\` of install_yamls, which deletes the previously rendered pools before it
creates new ones.`,
  example,
})

export const pendingNoAutoAssign = problem<PendingFacts & { pools: readonly string[] }>({
  code: 'SL9510',
  severity: 'error',
  title: 'Pending: the Service requests no pool, and no pool assigns automatically',
  message: ({ namespace }) => `it has no address: it requests no pool, and no pool with autoAssign serves ${namespace}`,
  remedy: ({ pools }) =>
    pools.length === 0
      ? 'set a pool in the override of this service (metallb.io/address-pool)'
      : `set a pool in the override of this service (metallb.io/address-pool): ${pools.join(', ')}`,
  description: `A Service that requests neither a pool nor an address gets an address from a pool with \`autoAssign\` that serves its namespace.
The pools of clouds have \`autoAssign: false\`, so that no Service takes an unplanned address. If a Service of a control plane
has no annotations, its slot was usually not rendered: \`stackloom slots\` lists all slots.`,
  example: { ...example, pools: ['openstack2-internalapi'] },
})

export const pendingTwoRequests = problem<PendingFacts>({
  code: 'SL9511',
  severity: 'error',
  title: 'Pending: the address is requested in two ways',
  message: () =>
    'it has no address: it has both spec.loadBalancerIP and the annotation loadBalancerIPs, and MetalLB accepts only one',
  remedy: ({ namespace, service }) =>
    `kubectl -n ${namespace} patch service ${service} --type=json -p '[{"op":"remove","path":"/spec/loadBalancerIP"}]'`,
  description: `\`spec.loadBalancerIP\` is deprecated in Kubernetes and contains one address; the annotation may contain one of each family.
MetalLB rejects a Service with both ("service can not have both").`,
  example,
})

export const pendingWrongFamily = problem<PendingFacts & { asked: string; families: string }>({
  code: 'SL9512',
  severity: 'error',
  title: 'Pending: the requested address has the wrong IP family',
  message: ({ asked, families }) => `it has no address: it requests ${asked}, but its IP family is ${families}`,
  remedy: () =>
    "request an address of its family, or set spec.ipFamilyPolicy and ipFamilies in the control plane's override",
  description: `The IP family of a Service is set when it is created, from \`ipFamilies\` or from the first service network of the cluster.
MetalLB assigns only addresses of that family ("does not match the ipFamily of the service").`,
  example: { ...example, asked: 'fd00:17::80', families: 'IPv4' },
})

export const pendingNoAddress = problem<PendingFacts & { asked: string }>({
  code: 'SL9513',
  severity: 'error',
  title: 'Pending: the requested address is invalid',
  message: ({ asked }) => `it has no address: it requests ${JSON.stringify(asked)}, which is not an IP address`,
  remedy: () =>
    "correct metallb.io/loadBalancerIPs in the control plane's override: a comma-separated list of addresses",
  description:
    'MetalLB reads `metallb.io/loadBalancerIPs` as one address, or one address per IP family, separated by a comma.',
  example: { ...example, asked: '172.27.0.80/24' },
})

export const pendingOtherClass = problem<PendingFacts & { loadBalancerClass: string }>({
  code: 'SL9514',
  severity: 'warning',
  title: 'Pending: the Service uses another load balancer class',
  message: ({ loadBalancerClass }) =>
    `it has no address: its loadBalancerClass is ${loadBalancerClass}, and by default MetalLB serves only Services without a class`,
  remedy: () =>
    'to let MetalLB serve it, create the Service again without spec.loadBalancerClass (the field is immutable), or start MetalLB with --lb-class',
  description:
    '`spec.loadBalancerClass` selects the load balancer of a Service. MetalLB serves the class of its `--lb-class` flag; without that flag it serves Services without a class.',
  example: { ...example, loadBalancerClass: 'example.com/other' },
})

export const pendingUnexplained = problem<PendingFacts & { said: boolean }>({
  code: 'SL9515',
  severity: 'error',
  title: 'Pending: a Service has no address',
  message: ({ said }) =>
    said
      ? 'it has no address; the event of MetalLB has the reason'
      : 'it has no address although a pool has a free one, and MetalLB has reported no event',
  remedy: (facts) =>
    facts.said
      ? describe(facts)
      : `check whether the MetalLB controller runs: kubectl -A get pods -l component=controller; then ${describe(facts)}`,
  description: `The events of MetalLB explain why a Service has no address. If there is no event, the MetalLB controller does not run, does not
watch the Service, or rejected its whole configuration (reported in the object ConfigurationState since 0.15.3).`,
  example: { ...example, said: true },
})
