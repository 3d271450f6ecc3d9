/**
 * Decides for every host of every node set whether it has what is declared: node set, services, Secrets, ConfigMaps and
 * images. Pure. Each service of a host is compared with the last deployment that ran it there: a limit, tags or an override
 * of services bring only a part of the hosts or services level.
 */
import type { KubeObject } from '../api/object.ts'
import { matchLimit } from '../dataplane/rules/ansible-limit.ts'
import { getOwn, groupBy } from './collections.ts'
import {
  type Deployment,
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
  serviceCondition,
  type Texts,
} from './data-plane.ts'
import { type FailureLookup, type HostFailure, indexFailures, nodeSetOutcome } from './deployment-outcome.ts'

/** What a Secret or ConfigMap holds now. `ignored`: it is not compared, because the caller must not read it. */
export type Content =
  | { readonly kind: 'hash'; readonly hash: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unread'; readonly reason: string }
  | { readonly kind: 'ignored' }

export interface Certificate {
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly hash: string | undefined
}

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

/** A difference between what is declared and what a service has on a host. */
export interface HostChange {
  readonly kind: 'spec' | 'machine' | 'service' | 'Secret' | 'ConfigMap' | 'image' | 'never'
  /** Of the Secret, ConfigMap or image field. */
  readonly name?: string
  /** What happened to a Secret or ConfigMap. */
  readonly change?: 'changed' | 'added' | 'deleted'
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
      const facts: Omit<Scope, 'compared'> = {
        nodeSet,
        runs: [
          ...recordedRun(nodeSet, nodeSetDeployments, isGlobal),
          ...nodeSetDeployments.map((deployment) => toRun(deployment, nodeSet, isGlobal)),
        ].sort(compareEnds),
        effectiveServices: distinctTypes(nodeSet.services, findService),
        service: findService,
        servicesRead: input.services !== undefined,
        images: images.get(namespace),
        certificatesUnread: input.certificatesUnread,
        content: (source) => input.content(source.kind, namespace, source.name),
        certificates: (service, hostName) => certificatesByUse.get(formatUse(namespace, name, service, hostName)) ?? [],
        isShared: (certificate) => (certificatesByName.get(certificate)?.length ?? 0) > 1,
      }
      const scope: Scope = { ...facts, compared: remember((service, run) => compareForAll(service, run, facts)) }
      return nodeSet.hosts.map((host) => judgeHost(host, scope)).sort((a, b) => compareNames(a.host, b.host))
    })
}

function formatUse(...parts: readonly (string | undefined)[]): string {
  return parts.map((part) => part ?? '').join('/')
}

/** What a deployment did to one node set. */
interface Run {
  /** Undefined for a deployment that was deleted and left only the copies in the node set's status. */
  readonly deployment: Deployment | undefined
  readonly name: string
  readonly outcome: 'succeeded' | 'failed' | 'running'
  readonly created: string
  readonly ended: string
  readonly limit: string
  readonly isPartial: boolean
  /** Undefined: unknown hash. */
  readonly configHash: string | undefined
  readonly machineHash: string | undefined
  /** A missing hash means that the object was not deployed; otherwise nothing can be said. */
  readonly isComplete: boolean
  readonly secretHashes: Texts
  readonly configMapHashes: Texts
  readonly images: Texts
  readonly ran: (service: string) => boolean
  readonly failures: FailureLookup
}

interface Scope {
  readonly nodeSet: NodeSet
  /** In the order in which they ended. */
  readonly runs: readonly Run[]
  /** Those that run, in order. */
  readonly effectiveServices: readonly string[]
  readonly service: (name: string) => Service | undefined
  readonly servicesRead: boolean
  readonly images: Texts | undefined
  readonly certificatesUnread: string | undefined
  readonly content: (source: Source) => Content
  readonly certificates: (service: string, hostName: string) => readonly Certificate[]
  /** Whether several namespaces have a certificate of this name. */
  readonly isShared: (certificate: string) => boolean
  readonly compared: (service: string, run: Run) => Comparison
}

/** Times have whole seconds, in which several deployments may end. */
function compareEnds(a: Run, b: Run): number {
  return (
    compareText(a.ended, b.ended) ||
    compareText(a.created, b.created) ||
    (a.deployment?.revision ?? 0) - (b.deployment?.revision ?? 0)
  )
}

type IsGlobal = (service: string) => boolean

function toRun(deployment: Deployment, nodeSet: NodeSet, isGlobal: IsGlobal): Run {
  const { name, services } = nodeSet
  const conditions = getOwn(deployment.nodeSetConditions, name) ?? []
  const { servicesOverride } = deployment
  const planned = servicesOverride.length > 0 ? servicesOverride : services
  const outcome = nodeSetOutcome(deployment, name)
  return {
    deployment,
    name: deployment.name,
    outcome,
    created: deployment.created,
    ended: deployment.ended,
    limit: deployment.limit,
    isPartial: deployment.tags !== '',
    configHash: getOwn(deployment.nodeSetHashes, name),
    machineHash: getOwn(deployment.machineHashes, name),
    isComplete: deployment.isDeployed,
    secretHashes: deployment.secretHashes,
    configMapHashes: deployment.configMapHashes,
    images: deployment.images,
    ran: (service) => {
      // A service that was added to the node set later has no condition here.
      const hasConditions = conditions.some(({ type }) => type.startsWith('Service'))
      if (!hasConditions) return planned.includes(service)
      const type = serviceCondition(service)
      const searched = isGlobal(service) ? Object.values(deployment.nodeSetConditions).flat() : conditions
      return searched.some((condition) => condition.type === type && condition.status === 'True')
    },
    failures: indexFailures(deployment, nodeSet),
  }
}

/** The copies of the last deployment in the status of the node set, for a deployment that was deleted. */
function recordedRun(nodeSet: NodeSet, existing: readonly Deployment[], isGlobal: IsGlobal): readonly Run[] {
  const names = new Set(existing.map(({ name }) => name))
  const deleted = Object.entries(nodeSet.deploymentConditions).flatMap(([name, conditions]) => {
    const ready = conditions.find(({ type }) => type === 'NodeSetDeploymentReady')
    if (names.has(name) || ready?.status !== 'True') return []
    return [{ name, conditions, ended: ready.lastTransitionTime ?? '' }]
  })
  const last = deleted.sort((a, b) => compareText(a.ended, b.ended)).at(-1)
  const finished = existing.filter((deployment) => nodeSetOutcome(deployment, nodeSet.name) === 'succeeded')
  if (!last && (finished.length > 0 || nodeSet.deployedConfigHash === undefined)) return []
  const ended = last?.ended ?? ''
  // A later deployment has replaced the copies, so those of the deleted one are lost.
  const isKept = finished.every((deployment) => deployment.ended <= ended)
  const serviceConditions = (last?.conditions ?? []).filter(({ type }) => type.startsWith('Service'))
  return [
    {
      deployment: undefined,
      name: last?.name ?? '(deleted)',
      outcome: 'succeeded',
      created: ended,
      ended,
      limit: '',
      isPartial: false,
      configHash: isKept ? nodeSet.deployedConfigHash : undefined,
      machineHash: undefined,
      isComplete: false,
      secretHashes: isKept ? nodeSet.secretHashes : {},
      configMapHashes: isKept ? nodeSet.configMapHashes : {},
      images: isKept ? nodeSet.images : {},
      ran: (service) =>
        serviceConditions.length === 0 ||
        isGlobal(service) ||
        serviceConditions.some(({ type, status }) => type === serviceCondition(service) && status === 'True'),
      failures: () => [],
    },
  ]
}

function judgeHost(host: Host, scope: Scope): HostState {
  const { nodeSet, runs } = scope
  const matches = runs.map((run) => ({ run, match: matchLimit(host.name, [nodeSet.name], run.limit) }))
  const selecting = matches.filter(({ match }) => match !== 'outside').map(({ run }) => run)
  const running = selecting.findLast(({ outcome }) => outcome === 'running')
  const last = running ?? selecting.at(-1)
  const failures = findOpenFailures(host, selecting)
  const isFailed = (run: Run, service: string): boolean =>
    run.failures(host.name).some((failure) => (failure.service ?? service) === service)
  const certain = matches.filter(({ match }) => match === 'within').map(({ run }) => run)
  const doubtful = matches.filter(({ match }) => match === 'unknown').map(({ run }) => run)
  const results = scope.effectiveServices.map((service) => {
    const brought = (run: Run): boolean =>
      run.outcome === 'succeeded' && !run.isPartial && run.ran(service) && !isFailed(run, service)
    const run = certain.findLast(brought)
    const later = doubtful.findLast((candidate) => brought(candidate) && candidate.ended > (run?.ended ?? ''))
    return { service, run, ...compareService(service, run, host, scope), later }
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

function deployedHash(runs: readonly Run[]): { readonly deployed?: string } {
  const hash = runs.findLast(({ outcome, isPartial }) => outcome === 'succeeded' && !isPartial)?.configHash
  return hash === undefined ? {} : { deployed: hash }
}

/** Failures of the host that no later deployment has repaired or repeated. */
function findOpenFailures({ name }: Host, selecting: readonly Run[]): readonly HostFailure[] {
  return selecting.flatMap((run, index) => {
    const later = selecting.slice(index + 1)
    return run.failures(name).filter(({ service }) => !later.some((next) => isAnswer(next, service, name)))
  })
}

/** Whether a later run says more about the failed service of a host: it succeeded there, or failed again. */
function isAnswer(run: Run, service: string | undefined, host: string): boolean {
  const failures = run.failures(host)
  if (failures.some((failure) => failure.service === service)) return true
  if (run.outcome !== 'succeeded' || run.isPartial || failures.length > 0) return false
  return service === undefined ? run.deployment?.servicesOverride.length === 0 : run.ran(service)
}

type Change = Omit<HostChange, 'services'>

interface Comparison {
  readonly changes: readonly Change[]
  readonly doubts: readonly string[]
}

function compareService(name: string, run: Run | undefined, host: Host, scope: Scope): Comparison {
  if (!run) return { changes: [{ kind: 'never' }], doubts: [] }
  const common = scope.compared(name, run)
  const results = [
    ...host.sources.map((source) => compareSource(source, run, scope.content(source))),
    ...scope.certificates(name, host.hostName).map((certificate) => compareCertificate(certificate, run, scope)),
  ]
  if (results.length === 0) return common
  return {
    changes: [...common.changes, ...results.flatMap(({ change }) => change ?? [])],
    doubts: [...common.doubts, ...results.flatMap(({ doubt }) => doubt ?? [])],
  }
}

/** What is equal for all hosts of the node set that the run brought this service to. */
function compareForAll(name: string, run: Run, scope: Omit<Scope, 'compared'>): Comparison {
  const { nodeSet } = scope
  const service = scope.service(name)
  const sources = distinctSources([...(service?.sources ?? []), ...nodeSet.sources])
  const results = [
    compareSpec(run, nodeSet),
    compareDefinition(name, service, run, scope),
    ...(service ? compareImages(service, run, scope.images) : []),
    ...sources.map((source) => compareSource(source, run, scope.content(source))),
  ]
  const { machineHash } = run
  const isOtherMachine = machineHash !== undefined && (nodeSet.machineHash ?? machineHash) !== machineHash
  const changes = results.flatMap(({ change }) => change ?? [])
  return {
    changes: isOtherMachine ? [...changes, { kind: 'machine' }] : changes,
    doubts: [...results.flatMap(({ doubt }) => doubt ?? []), ...certificateDoubts(service, scope)],
  }
}

function compareSpec({ name, configHash }: Run, nodeSet: NodeSet): SourceResult {
  if (!nodeSet.isObserved) return { doubt: 'the operator has not seen the last change of the node set' }
  if (configHash === undefined || nodeSet.configHash === undefined)
    return { doubt: `the hash of the node set in deployment ${name} is not recorded` }
  return configHash === nodeSet.configHash ? {} : { change: { kind: 'spec' } }
}

function compareDefinition(
  name: string,
  service: Service | undefined,
  { created }: Run,
  { servicesRead }: Pick<Scope, 'servicesRead'>,
): SourceResult {
  if (!service) return { doubt: servicesRead ? `service ${name} does not exist` : 'services could not be read' }
  return created !== '' && (service.changed ?? '') > created ? { change: { kind: 'service', name } } : {}
}

function compareImages({ imageFields }: Service, run: Run, images: Texts | undefined): readonly SourceResult[] {
  return imageFields.map((field) => {
    const declared = getOwn(images, field)
    const deployed = getOwn(run.images, field)
    const isKnown = declared !== undefined && deployed !== undefined
    return isKnown && declared !== deployed ? { change: { kind: 'image', name: field } } : {}
  })
}

function certificateDoubts(
  service: Service | undefined,
  { nodeSet, certificatesUnread }: Pick<Scope, 'nodeSet' | 'certificatesUnread'>,
): readonly string[] {
  const isConcerned = nodeSet.tlsEnabled && service?.hasCertificates === true
  if (certificatesUnread === undefined || !isConcerned) return []
  return [`certificates were not compared: ${certificatesUnread}`]
}

/** A comparison costs more than a lookup, and most hosts of a node set have the same runs. */
function remember(compare: (name: string, run: Run) => Comparison): (name: string, run: Run) => Comparison {
  const known = new Map<Run, Map<string, Comparison>>()
  return (name, run) => {
    const services = known.get(run) ?? new Map<string, Comparison>()
    known.set(run, services)
    const found = services.get(name) ?? compare(name, run)
    services.set(name, found)
    return found
  }
}

interface SourceResult {
  readonly change?: Change
  readonly doubt?: string
}

function compareSource({ kind, name, optional }: Source, run: Run, content: Content): SourceResult {
  const recorded = getOwn(kind === 'Secret' ? run.secretHashes : run.configMapHashes, name)
  switch (content.kind) {
    case 'ignored':
      return {}
    case 'unread':
      return { doubt: `${kind} ${name} was not compared: ${content.reason}` }
    case 'absent':
      return recorded === undefined && optional ? {} : { change: { kind, name, change: 'deleted' } }
    case 'hash':
      if (recorded === content.hash) return {}
      if (recorded !== undefined) return { change: { kind, name, change: 'changed' } }
      return run.isComplete
        ? { change: { kind, name, change: 'added' } }
        : { doubt: `the hash of ${kind} ${name} in deployment ${run.name} is not recorded` }
  }
}

function compareCertificate(
  { name, hash }: Certificate,
  run: Run,
  { isShared }: Pick<Scope, 'isShared'>,
): SourceResult {
  const recorded = getOwn(run.secretHashes, name)
  // A certificate for a service that was added later: the changed node set is reported.
  if (recorded === undefined || recorded === hash) return {}
  if (hash === undefined) return { doubt: `Secret ${name} was not compared: its values are not in the dump` }
  // The operator looks for certificates in all namespaces and records the last one of the same name.
  if (isShared(name)) return { doubt: `Secret ${name} exists in several namespaces, and deployments record only one` }
  return { change: { kind: 'Secret', name, change: 'changed' } }
}

interface ServiceResult extends Comparison {
  readonly service: string
  readonly run: Run | undefined
  readonly later: Run | undefined
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

function distinctSources(sources: readonly Source[]): readonly Source[] {
  return [...new Map(sources.map((source) => [`${source.kind}/${source.name}`, source])).values()]
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

const names = new Intl.Collator('en', { numeric: true })

/** `compute-2` before `compute-10`. */
export function compareNames(a: string, b: string): number {
  return names.compare(a, b) || compareText(a, b)
}
