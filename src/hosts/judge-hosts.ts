/**
 * Decides for every host of every node set whether it has what is declared: node set, services, Secrets, ConfigMaps and
 * images. Pure. Each service of a host is compared with the last deployment that ran it there: a limit, tags or an override
 * of services bring only a part of the hosts or services level.
 */
import { groupBy } from '../api/collections.ts'
import type { KubeObject } from '../api/object.ts'
import { compileLimit, type LimitMatcher } from '../dataplane/rules/ansible-limit.ts'
import {
  type Certificate,
  type Change,
  type CompareService,
  type Comparison,
  type Content,
  type Declared,
  serviceComparison,
} from './compare-service.ts'
import {
  HOST_LABEL,
  type Host,
  NODE_SET_LABEL,
  type NodeSet,
  readDeployment,
  readNodeSet,
  readService,
  readVersionImages,
  SERVICE_LABEL,
  type Service,
  type Source,
} from './data-plane.ts'
import type { HostFailure } from './deployment-outcome.ts'
import { type DeploymentRun, readRuns } from './deployment-run.ts'
import { compareNames, compareText } from './name-order.ts'

export interface HostsInput {
  readonly nodeSets: readonly KubeObject[]
  readonly deployments: readonly KubeObject[]
  /** Undefined where services could not be read. */
  readonly services: readonly KubeObject[] | undefined
  readonly versions: readonly KubeObject[]
  readonly content: (kind: Source['kind'], namespace: string, name: string) => Content
  /** Secrets with the label of a node set. */
  readonly certificates: readonly Certificate[]
  /** Why certificates could not be read. */
  readonly certificatesUnread?: string
}

export const verdicts = ['failed', 'behind', 'never', 'unknown', 'running', 'current'] as const
export type Verdict = (typeof verdicts)[number]

export interface HostChange extends Change {
  /** The services that have the old state, sorted. */
  readonly services: readonly string[]
}

export interface HostState {
  readonly namespace: string
  readonly nodeSet: string
  readonly host: string
  readonly verdict: Verdict
  readonly services: readonly string[]
  /** Hash of the node set as it is declared. */
  readonly declared?: string
  /** Hash of the node set in the last deployment that ran on the host. */
  readonly deployed?: string
  /** The last deployment that selected the host, or the one that runs. */
  readonly deployment?: string
  readonly limit?: string
  readonly changes: readonly HostChange[]
  readonly failures: readonly HostFailure[]
  /** Why the verdict is not certain. */
  readonly unknown: readonly string[]
}

export function judgeHosts(input: HostsInput): readonly HostState[] {
  const deployments = groupBy(input.deployments.map(readDeployment), ({ namespace }) => namespace)
  const services = new Map(input.services?.map(readService).map((service) => [keyOf(service), service]))
  const images = new Map(
    input.versions.map((version) => [version.metadata.namespace ?? '', readVersionImages(version)]),
  )
  const certificatesByName = groupBy(input.certificates, ({ name }) => name)
  const certificatesByUse = groupBy(input.certificates, ({ namespace, labels }) =>
    formatUse(namespace, labels[NODE_SET_LABEL], labels[SERVICE_LABEL], labels[HOST_LABEL]),
  )
  return input.nodeSets
    .map(readNodeSet)
    .sort((a, b) => compareText(keyOf(a), keyOf(b)))
    .flatMap((nodeSet) => {
      const { namespace, name } = nodeSet
      const nodeSetDeployments = (deployments.get(namespace) ?? []).filter(({ nodeSets }) => nodeSets.includes(name))
      const findService = (service: string): Service | undefined => services.get(`${namespace}/${service}`)
      const isGlobal = (service: string): boolean => findService(service)?.isGlobal ?? false
      const declared: Declared = {
        nodeSet,
        service: findService,
        servicesRead: input.services !== undefined,
        images: images.get(namespace),
        certificatesUnread: input.certificatesUnread,
        content: (source) => input.content(source.kind, namespace, source.name),
        certificates: (service, hostName) => certificatesByUse.get(formatUse(namespace, name, service, hostName)) ?? [],
        isShared: (certificate) => (certificatesByName.get(certificate)?.length ?? 0) > 1,
      }
      const scope: Scope = {
        nodeSet,
        runs: readRuns(nodeSet, nodeSetDeployments, isGlobal).map((run) => ({ run, limit: compileLimit(run.limit) })),
        effectiveServices: distinctTypes(nodeSet.services, findService),
        compareService: serviceComparison(declared),
      }
      const judge = input.certificates.length === 0 ? judgeAlike(scope) : (host: Host) => judgeHost(host, scope)
      return nodeSet.hosts.map(judge).sort((a, b) => compareNames(a.host, b.host))
    })
}

/** Judges hosts without values of their own once for all that the same runs selected and that did not fail. */
function judgeAlike(scope: Scope): (host: Host) => HostState {
  const known = new Map<string, HostState>()
  return (host) => {
    const selected = scope.runs.map(({ limit }) => limit(host.name, [scope.nodeSet.name])[0]).join('')
    const isAlike = host.sources.length === 0 && scope.runs.every(({ run }) => !run.isNamed(host.name))
    const state = (isAlike ? known.get(selected) : undefined) ?? judgeHost(host, scope)
    if (isAlike) known.set(selected, state)
    return { ...state, host: host.name }
  }
}

function formatUse(...parts: readonly (string | undefined)[]): string {
  return parts.map((part) => part ?? '').join('/')
}

/** What is equal for all hosts of a node set. */
interface Scope {
  readonly nodeSet: NodeSet
  readonly runs: readonly { readonly run: DeploymentRun; readonly limit: LimitMatcher }[]
  /** Those that run, in order. */
  readonly effectiveServices: readonly string[]
  readonly compareService: CompareService
}

function judgeHost(host: Host, scope: Scope): HostState {
  const { nodeSet, runs } = scope
  const matches = runs.map(({ run, limit }) => ({ run, match: limit(host.name, [nodeSet.name]) }))
  const selecting = matches.filter(({ match }) => match !== 'outside').map(({ run }) => run)
  const running = selecting.findLast(({ outcome }) => outcome === 'running')
  const last = running ?? selecting.at(-1)
  const failures = findOpenFailures(host, selecting)
  const isFailed = (run: DeploymentRun, service: string): boolean =>
    run.failures(host.name).some((failure) => (failure.service ?? service) === service)
  const certain = matches.filter(({ match }) => match === 'within').map(({ run }) => run)
  const doubtful = matches.filter(({ match }) => match === 'unknown').map(({ run }) => run)
  const results = scope.effectiveServices.map((service) => {
    const brought = (run: DeploymentRun): boolean =>
      run.outcome === 'succeeded' && !run.isPartial && run.ran(service) && !isFailed(run, service)
    const run = certain.findLast(brought)
    const later = doubtful.findLast((candidate) => brought(candidate) && candidate.ended > (run?.ended ?? ''))
    return { service, run, ...scope.compareService(service, run, host), later }
  })
  const hasRun = results.some(({ run, later }) => run ?? later)
  const unknown = collectDoubts(results, scope)
  const changes = mergeChanges(results.filter(({ later }) => later === undefined))
  const state = {
    namespace: nodeSet.namespace,
    nodeSet: nodeSet.name,
    host: host.name,
    services: nodeSet.services,
    ...(nodeSet.configHash !== undefined && { declared: nodeSet.configHash }),
    ...deployedHash(certain),
    ...(last && { deployment: last.name }),
    ...(last && last.limit !== '' && { limit: last.limit }),
  }
  const result = (verdict: Verdict, more: Partial<HostState> = {}): HostState => ({
    ...state,
    verdict,
    changes: [],
    failures: [],
    unknown: [],
    ...more,
  })
  if (running) return result('running', { failures })
  if (failures.length > 0) return result('failed', { failures, changes: hasRun ? changes : [] })
  if (!hasRun) return result('never')
  if (changes.length > 0) return result('behind', { changes, unknown })
  return unknown.length > 0 ? result('unknown', { unknown }) : result('current')
}

function deployedHash(runs: readonly DeploymentRun[]): { readonly deployed?: string } {
  const hash = runs.findLast(({ outcome, isPartial }) => outcome === 'succeeded' && !isPartial)?.configHash
  return hash === undefined ? {} : { deployed: hash }
}

/** Failures of the host that no later deployment has repaired or repeated. */
function findOpenFailures({ name }: Host, selecting: readonly DeploymentRun[]): readonly HostFailure[] {
  return selecting.flatMap((run, index) => {
    const later = selecting.slice(index + 1)
    return run.failures(name).filter(({ service }) => !later.some((next) => isAnswer(next, service, name)))
  })
}

/** Whether a later run says more about the failed service of a host: it succeeded there, or failed again. */
function isAnswer(run: DeploymentRun, service: string | undefined, host: string): boolean {
  const failures = run.failures(host)
  if (failures.some((failure) => failure.service === service)) return true
  if (run.outcome !== 'succeeded' || run.isPartial || failures.length > 0) return false
  return service === undefined ? run.deployment?.servicesOverride.length === 0 : run.ran(service)
}

interface ServiceResult extends Comparison {
  readonly service: string
  readonly run: DeploymentRun | undefined
  readonly later: DeploymentRun | undefined
}

function collectDoubts(results: readonly ServiceResult[], { nodeSet }: Scope): readonly string[] {
  const doubts = results.flatMap(({ doubts: reasons, later, changes }) => {
    if (later === undefined) return reasons
    return changes.length === 0 ? [] : [`limit ${later.limit} of deployment ${later.name} cannot be evaluated`]
  })
  const withoutServices = nodeSet.services.length === 0 ? ['the node set has no services'] : []
  return [...new Set([...doubts, ...withoutServices])].sort()
}

const changeOrder: readonly HostChange['kind'][] = [
  'never',
  'spec',
  'machine',
  'service',
  'Secret',
  'ConfigMap',
  'image',
]

/** Each change once, with every service that lacks it. */
function mergeChanges(results: readonly ServiceResult[]): readonly HostChange[] {
  const found = results.flatMap(({ service, changes }) => changes.map((change) => ({ service, change })))
  const merged = [...groupBy(found, ({ change }) => JSON.stringify(change)).values()].map((same) => ({
    ...(same[0] as (typeof same)[0]).change,
    services: same.map(({ service }) => service),
  }))
  return merged.sort(
    (a, b) => changeOrder.indexOf(a.kind) - changeOrder.indexOf(b.kind) || compareText(a.name ?? '', b.name ?? ''),
  )
}

/** A service that cannot be read has the type of its name. */
function distinctTypes(names: readonly string[], find: (name: string) => Service | undefined): readonly string[] {
  const types = new Map<string, string>()
  for (const name of names) {
    const type = find(name)?.type ?? name
    if (!types.has(type)) types.set(type, name)
  }
  return [...types.values()]
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`
}
