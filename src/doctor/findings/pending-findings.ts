/** SL9501 to SL9519: why a LoadBalancer Service has no address, in the order in which MetalLB decides. */
import { problem } from '../../errors/finding.ts'
import { quoteShellWord } from '../../errors/shell-words.ts'

/** The facts of every pending Service. */
interface PendingFacts {
  readonly namespace: string
  readonly service: string
}

const describe = ({ namespace, service }: PendingFacts): string =>
  `\`kubectl -n ${namespace} describe service ${service}\``

/** A tenant may have chosen the value, and the command is copied into a shell. */
const annotate = ({ namespace, service }: PendingFacts, annotation: string): string =>
  `\`kubectl -n ${namespace} annotate service ${service} --overwrite ${quoteShellWord(annotation)}\``

const createPools = '`stackloom up --stage metallb-config` to create the pool again'

export const pendingUnknownPool = problem<PendingFacts & { pool: string; nearest: string | undefined }>({
  code: 'SL9501',
  severity: 'error',
  message: ({ pool, nearest }) =>
    `it has no address: there is no pool ${pool}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`,
  remedy: (facts) =>
    facts.nearest === undefined
      ? `run ${createPools}; if the name is wrong, set the pool of this cloud and network (<namespace>-<network>) in the control plane's override; \`kubectl -A get ipaddresspools.metallb.io\` lists them`
      : `set ${facts.nearest} in the control plane's override; until the operator has applied it: ${annotate(facts, `metallb.io/address-pool=${facts.nearest}`)}`,
})

export const pendingNotForNamespace = problem<
  PendingFacts & {
    pool: string
    serves: string
    metallb: string
    owner: string | undefined
    cloudPool: string | undefined
    asked: string | undefined
  }
>({
  code: 'SL9502',
  severity: 'error',
  message: ({ pool, serves, asked, namespace }) =>
    `it has no address: ${asked === undefined ? `pool ${pool}` : `${asked} is in pool ${pool}, which`} serves ${serves}, not ${namespace}`,
  remedy: ({ cloudPool, pool, owner, namespace, metallb }) => {
    if (cloudPool !== undefined)
      return `use this cloud's own pool ${cloudPool} in the control plane's override of this service`
    return owner !== undefined && owner !== namespace
      ? `${pool} belongs to ${owner}: use this cloud's own pool of the network; if it is missing, run ${createPools}`
      : `if ${pool} belongs to this cloud: \`kubectl -n ${metallb} patch ipaddresspools.metallb.io ${pool} --type=merge -p '{"spec":{"serviceAllocation":{"namespaces":["${namespace}"]}}}'\`; otherwise create a pool for ${namespace} (\`stackloom plan\`, \`stackloom up\`)`
  },
})

export const pendingExhausted = problem<PendingFacts & { pool: string; ranges: string; size: string; metallb: string }>(
  {
    code: 'SL9503',
    severity: 'error',
    message: ({ pool, ranges, size }) => `it has no address: all ${size} of pool ${pool} (${ranges}) are in use`,
    remedy: ({ pool, metallb }) =>
      `extend the vips span in the site file and deploy it (\`stackloom plan\`, \`stackloom up\`); without a site file: \`kubectl -n ${metallb} edit ipaddresspools.metallb.io ${pool}\`; or let the Service share an address with metallb.io/allow-shared-ip`,
  },
)

export const pendingNotInPool = problem<
  PendingFacts & { asked: string; cloudPool: string | undefined; missing: string | undefined; metallb: string }
>({
  code: 'SL9504',
  severity: 'error',
  message: ({ asked, missing }) =>
    `it has no address: it requests ${asked}, which is in no pool${missing === undefined ? '' : `: pool ${missing} does not exist`}`,
  remedy: ({ cloudPool, missing, metallb }) =>
    missing === undefined
      ? `request an address of ${cloudPool ?? "its own cloud's pool of its network"} in the control plane's override; \`kubectl -n ${metallb} get ipaddresspools.metallb.io\` shows their ranges`
      : `run ${createPools}; MetalLB then tries the Service again`,
})

export const pendingOtherPool = problem<
  PendingFacts & { asked: string; wanted: string; pool: string; meant: string | undefined }
>({
  code: 'SL9505',
  severity: 'error',
  message: ({ asked, wanted, pool }) =>
    `it has no address: it requests ${asked} and pool ${wanted}, but ${asked} is in pool ${pool}`,
  remedy: (facts) => {
    if (facts.meant === undefined)
      return `run ${createPools} if ${facts.wanted} is missing, and request an address of it`
    return facts.meant === facts.pool
      ? `set ${facts.pool} in the control plane's override; until then: ${annotate(facts, `metallb.io/address-pool=${facts.pool}`)}`
      : `correct the address in the control plane's override: it must be in ${facts.meant}, unless the pool is of the wrong network`
  },
})

export const pendingPortClash = problem<PendingFacts & { asked: string; port: string; holder: string }>({
  code: 'SL9506',
  severity: 'error',
  message: ({ asked, port, holder }) =>
    `it has no address: ${port} on ${asked} is already used by Service ${holder}, which shares the address`,
  remedy: () =>
    "give it its own address: set another metallb.io/loadBalancerIPs in the control plane's override, or remove it if the pool has a free address",
})

export const pendingSharingRefused = problem<
  PendingFacts & { asked: string; holder: string; key: string | undefined; holderKey: string | undefined }
>({
  code: 'SL9507',
  severity: 'error',
  message: ({ asked, holder, key, holderKey }) =>
    `it has no address: ${asked} is held by Service ${holder} with ${word(holderKey)}, and this one has ${word(key)}`,
  remedy: (facts) => {
    const { holderKey, holder, namespace } = facts
    return holderKey !== undefined && holder.startsWith(`${namespace}/`)
      ? `to share it: ${annotate(facts, `metallb.io/allow-shared-ip=${holderKey}`)}; otherwise request another address`
      : "request a free address: set another metallb.io/loadBalancerIPs in the control plane's override"
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
  message: ({ annotation, value, stable }) =>
    `it has no address: ${annotation}: ${value} is left from an earlier control plane, and ${stable} is not set`,
  remedy: (facts) => {
    const { namespace, service, annotation, stable, better } = facts
    return better === undefined
      ? `remove it: \`kubectl -n ${namespace} annotate service ${service} ${annotation}-\``
      : `${annotate(facts, `${stable}=${better}`)} and set the same value in the control plane's override`
  },
})

export const pendingNoPools = problem<PendingFacts>({
  code: 'SL9509',
  severity: 'error',
  message: () => 'it has no address: there is no IPAddressPool in the cluster',
  remedy: () => 'run `stackloom up --stage metallb-config` to restore the pools of the site; all Services are retried',
})

export const pendingNoAutoAssign = problem<PendingFacts & { pools: readonly string[] }>({
  code: 'SL9510',
  severity: 'error',
  message: ({ namespace }) => `it has no address: it requests no pool, and no pool with autoAssign serves ${namespace}`,
  remedy: ({ pools }) =>
    pools.length === 0
      ? "set the pool of this service's network in its override (metallb.io/address-pool)"
      : `set the pool of this service's network in its override (metallb.io/address-pool): ${pools.join(' or ')}`,
})

export const pendingTwoRequests = problem<PendingFacts>({
  code: 'SL9511',
  severity: 'error',
  message: () =>
    'it has no address: it has both spec.loadBalancerIP and the annotation loadBalancerIPs, and MetalLB accepts only one',
  remedy: ({ namespace, service }) =>
    `\`kubectl -n ${namespace} patch service ${service} --type=json -p '[{"op":"remove","path":"/spec/loadBalancerIP"}]'\``,
})

export const pendingWrongFamily = problem<PendingFacts & { asked: string; families: string }>({
  code: 'SL9512',
  severity: 'error',
  message: ({ asked, families }) => `it has no address: it requests ${asked}, but its IP family is ${families}`,
  remedy: () =>
    "request an address of its family, or set spec.ipFamilyPolicy and ipFamilies in the control plane's override",
})

export const pendingNoAddress = problem<PendingFacts & { asked: string }>({
  code: 'SL9513',
  severity: 'error',
  message: ({ asked }) => `it has no address: it requests ${JSON.stringify(asked)}, which is not an IP address`,
  remedy: () =>
    "correct metallb.io/loadBalancerIPs in the control plane's override: a comma-separated list of addresses",
})

export const pendingOtherClass = problem<PendingFacts & { loadBalancerClass: string }>({
  code: 'SL9514',
  severity: 'warning',
  message: ({ loadBalancerClass }) =>
    `it has no address: its loadBalancerClass is ${loadBalancerClass}, and by default MetalLB serves only Services without a class`,
  remedy: () =>
    'to let MetalLB serve it, create the Service again without spec.loadBalancerClass (the field is immutable), or start MetalLB with --lb-class',
})

export const pendingUnexplained = problem<PendingFacts & { said: boolean }>({
  code: 'SL9515',
  severity: 'error',
  message: ({ said }) =>
    said
      ? 'it has no address; the event of MetalLB has the reason'
      : 'it has no address although a pool has a free one, and MetalLB has reported no event',
  remedy: (facts) =>
    facts.said
      ? describe(facts)
      : `check whether the MetalLB controller runs: \`kubectl -A get pods -l component=controller\`; then ${describe(facts)}`,
})
