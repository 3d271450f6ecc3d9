/**
 * Checks that internal endpoints use planned VIPs and public endpoints use a Route or VIP of this cloud and, with
 * `--ask-endpoints`, that services answer there.
 */
import { type KubeObject, objectKey } from '../../api/object.ts'
import { getField, getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import type { ServiceEntry } from '../../plan/slots/service-catalogue.ts'
import {
  endpointElsewhere,
  endpointForeign,
  endpointSilent,
  endpointsAbsent,
  noToken,
} from '../findings/network-findings.ts'
import { ingressAddresses } from '../readiness/load-balancer.ts'
import {
  type CloudCheck,
  type CloudContext,
  ENDPOINT,
  type EndpointAnswers,
  formatCount,
  locateObject,
  ROUTE,
  SERVICE,
} from './check-definition.ts'
import { exclusiveRanges, findRange } from './planned-ranges.ts'

export const keystoneEndpoints: CloudCheck = {
  scope: 'cloud',
  id: 'keystone-endpoints',
  title: 'KeystoneEndpoints',
  promise: 'every endpoint points to a planned VIP or Route of this cloud',
  kinds: [ENDPOINT, SERVICE, ROUTE],
  run: (context) => {
    const endpoints = context.live
      .all(formatGroupKind(ENDPOINT))
      .filter(({ metadata }) => metadata.namespace === context.cloud.namespace)
    const asked = context.endpoints?.get(context.cloud.name)
    const declared =
      endpoints.length === 0
        ? missingEndpoints(context)
        : endpoints.flatMap((endpoint) => checkEndpoint(endpoint, context))
    return {
      seen: `${formatCount(endpoints.length, 'KeystoneEndpoint')}${asked ? `, ${describeAnswers(asked)}` : ''}`,
      count: endpoints.length + (asked?.kind === 'asked' ? asked.services.length : 0),
      findings: [...declared, ...answerFindings(context.cloud.name, asked)],
    }
  },
}

function describeAnswers(asked: EndpointAnswers): string {
  if (asked.kind === 'no-token') return 'no token'
  const answered = asked.services.filter(({ problem }) => problem === undefined).length
  return `${answered} of ${asked.services.length} answered`
}

function answerFindings(cloud: string, asked: EndpointAnswers | undefined): readonly Finding[] {
  if (!asked) return []
  if (asked.kind === 'no-token') {
    const { keystone, reason } = asked
    return [finding(noToken, { cloud, keystone, reason })]
  }
  return asked.services.flatMap(({ type, url, problem }) =>
    problem === undefined ? [] : [finding(endpointSilent, { cloud, type, url, problem })],
  )
}

/** A cloud with services that register must have KeystoneEndpoints. */
function missingEndpoints({ cloud }: CloudContext): readonly Finding[] {
  const registering = cloud.services
    .filter(({ enabled, entry }) => enabled && registersEndpoint(entry))
    .map(({ entry }) => entry.name)
  if (registering.length === 0) return []
  return [finding(endpointsAbsent, { cloud: cloud.name, namespace: cloud.namespace, services: registering })]
}

/** Keystone registers itself at bootstrap; an API with internal and public endpoints is registered by its operator. */
function registersEndpoint({ name, endpoints }: ServiceEntry): boolean {
  return name !== 'keystone' && endpoints.some(({ types }) => types.length > 1)
}

function checkEndpoint(endpoint: KubeObject, context: CloudContext): readonly Finding[] {
  const urls = Object.entries((getField(endpoint, 'spec', 'endpoints') ?? {}) as Record<string, unknown>)
  return urls.flatMap(([face, value]) => {
    const url = String(value)
    const host = parseHost(url)
    const facts = { endpoint: objectKey(endpoint.metadata), face, url }
    const where = locateObject(endpoint, `spec.endpoints.${face}`)
    const other = findOtherCloud(host, context)
    if (other !== undefined) return [finding(endpointForeign, { ...facts, other }, { where })]
    const planned = face === 'public' ? publicMismatch(host, facts, context) : internalMismatch(host, context)
    return planned === undefined ? [] : [finding(endpointElsewhere, { ...facts, planned }, { where })]
  })
}

function parseHost(url: string): string {
  try {
    return new URL(url).hostname.replace(/^\[|\]$/g, '')
  } catch {
    return ''
  }
}

/** The other cloud of the site that owns this host. */
function findOtherCloud(host: string, { plan, cloud }: { plan: Plan; cloud: PlannedCloud }): string | undefined {
  const others = plan.clouds.filter(({ name }) => name !== cloud.name)
  const [, namespace, svc] = host.split('.')
  const found = others.find(
    (other) =>
      (svc === 'svc' && namespace === other.namespace) ||
      host.split('.')[0]?.endsWith(`-public-${other.namespace}`) === true ||
      (parseAddress(host) !== undefined && findRange(exclusiveRanges(plan, other), host) !== undefined),
  )
  return found?.name
}

/** The expected target, or undefined when the URL is correct. */
function internalMismatch(host: string, { cloud, live }: CloudContext): string | undefined {
  const vips = new Set(cloud.networks.flatMap((network) => network.vips.map(({ address }) => address)))
  const [name = '', namespace, svc] = host.split('.')
  const service = svc === 'svc' && namespace === cloud.namespace && live.get('Service', name, namespace)
  const has = service ? ingressAddresses(service) : vips.has(host) ? [host] : []
  if (has.length > 0 && has.every((address) => vips.has(address))) return undefined
  return `a Service of ${cloud.namespace} with its planned VIP`
}

function publicMismatch(host: string, { endpoint }: { endpoint: string }, context: CloudContext): string | undefined {
  if (internalMismatch(host, context) === undefined) return undefined
  const { cloud, live, plan } = context
  const routes = live
    .all(formatGroupKind(ROUTE))
    .filter(({ metadata }) => metadata.namespace === cloud.namespace)
    .map((route) => getString(route, 'spec', 'host'))
  const { domain } = plan.from.cluster
  const ending = `-public-${cloud.namespace}.${domain ?? ''}`
  const named = domain === undefined ? host.includes(`-public-${cloud.namespace}.`) : host.endsWith(ending)
  if (named && routes.includes(host)) return undefined
  const service = endpoint.split('/')[1] ?? ''
  return `the Route ${service}-public-${cloud.namespace}.${domain ?? 'apps.<domain>'}, or a planned public VIP`
}
