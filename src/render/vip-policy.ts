/**
 * Renders an admission policy per cloud: in the cloud's namespace a Service may request only that cloud's pools,
 * addresses and sharing keys; in other namespaces none of them. MetalLB limits pools to namespaces, but not sharing keys,
 * and it refuses too late: the Service stays pending. Pools, addresses and keys of other owners are not checked.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { ownershipLabels } from './labels.ts'
import { formatCidrs, spanRanges } from './spans.ts'

/**
 * With the defaults of the API server: it owns the constraints as a whole, so that a second program that applies the same
 * policy would be in conflict with the first about a field that neither wrote.
 */
const matchConstraints = {
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['services'], scope: '*' },
  ],
}

const matchConditions = [{ name: 'load-balancers', expression: "object.spec.type == 'LoadBalancer'" }]

interface VipResources {
  readonly pools: readonly string[]
  readonly keys: readonly string[]
  /** The spans of the pools as prefixes, with reserved addresses: these belong to the cloud too. */
  readonly prefixes: readonly string[]
}

export function renderVipPolicy(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const resources = collectVipResources(cloud)
  if (resources.pools.length === 0) return []
  const name = `stackloom-vips-${cloud.namespace}`
  const metadata = { name, labels: ownershipLabels({ site: plan.site, cloud: cloud.name }) }
  const policy: KubeObject = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints,
      matchConditions,
      variables: variables(cloud, resources),
      validations: validations(cloud),
    },
  }
  const binding: KubeObject = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: name, validationActions: ['Deny'] },
  }
  return [policy, binding]
}

function collectVipResources(cloud: PlannedCloud): VipResources {
  const pools: string[] = []
  const keys: string[] = []
  const prefixes: string[] = []
  for (const { pool, sharingKey, subnets } of cloud.networks) {
    if (pool === undefined) continue
    pools.push(pool)
    if (sharingKey !== undefined) keys.push(sharingKey)
    for (const subnet of subnets) prefixes.push(...formatCidrs(spanRanges(subnet, 'vips')))
  }
  return { pools, keys, prefixes }
}

/** Reads both spellings of an annotation, as MetalLB does when the preferred one is missing. */
function annotationValues(name: string): string {
  const keys = JSON.stringify([`metallb.io/${name}`, `metallb.universe.tf/${name}`])
  return `${keys}.filter(k, k in variables.annotations).map(k, variables.annotations[k])`
}

const requestVariables = [
  { name: 'annotations', expression: 'object.metadata.?annotations.orValue({})' },
  { name: 'pools', expression: annotationValues('address-pool') },
  { name: 'keys', expression: annotationValues('allow-shared-ip') },
  {
    name: 'addresses',
    expression:
      `(${annotationValues('loadBalancerIPs')} + [object.spec.?loadBalancerIP.orValue('')])` +
      ".map(t, t.split(',')).map(l, l.map(a, a.trim()).filter(a, a != ''))",
  },
]

function variables(cloud: PlannedCloud, resources: VipResources): readonly unknown[] {
  const inPrefix = `isIP(a) && ${JSON.stringify(resources.prefixes)}.exists(c, cidr(c).containsIP(a))`
  return [
    { name: 'inside', expression: `object.metadata.namespace == ${JSON.stringify(cloud.namespace)}` },
    ...requestVariables,
    { name: 'ownPools', expression: `variables.pools.filter(p, p in ${JSON.stringify(resources.pools)})` },
    { name: 'ownKeys', expression: `variables.keys.filter(k, k in ${JSON.stringify(resources.keys)})` },
    { name: 'allAddressesOwn', expression: `variables.addresses.all(l, l.all(a, ${inPrefix}))` },
    {
      name: 'noAddressOwn',
      // Other notations (such as IPv4 mapped into IPv6) cannot be checked, and MetalLB may accept them.
      expression: `variables.addresses.all(l, l.all(a, isIP(a) && !(${inPrefix})))`,
    },
  ]
}

interface Rule {
  readonly expression: string
  readonly what: string
  readonly list: string
}

function rule(inside: string, outside: string, what: string, list: string): Rule {
  return { expression: `variables.inside ? ${inside} : ${outside}`, what, list }
}

const rules = [
  rule(
    "variables.pools.all(p, p == '' || p in variables.ownPools)",
    'size(variables.ownPools) == 0',
    'pools',
    "variables.pools.join(', ')",
  ),
  rule(
    "variables.keys.all(k, k == '' || k in variables.ownKeys)",
    'size(variables.ownKeys) == 0',
    'sharing keys',
    "variables.keys.join(', ')",
  ),
  rule(
    'variables.allAddressesOwn',
    'variables.noAddressOwn',
    'addresses',
    "variables.addresses.map(l, l.join(' ')).join(' ')",
  ),
]

function validations({ name, namespace }: PlannedCloud): readonly unknown[] {
  return rules.map(({ expression, what, list }) => ({
    expression,
    messageExpression:
      `variables.inside ? '${name}: only this cloud\\'s ${what} may be asked for in ${namespace}: ' + ${list}` +
      ` : '${name}: its ${what} belong to namespace ${namespace}: ' + ${list}`,
    reason: 'Forbidden',
  }))
}
