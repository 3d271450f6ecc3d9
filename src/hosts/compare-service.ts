/** Compares what a service has on a host, by the run that brought it there, with what is declared. */
import { getOwn } from '../api/collections.ts'
import type { Host, NodeSet, Service, Source, Texts } from './data-plane.ts'
import type { DeploymentRun } from './deployment-run.ts'

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

/** A difference between what is declared and what a service has on a host. */
export interface Change {
  readonly kind: 'spec' | 'machine' | 'service' | 'Secret' | 'ConfigMap' | 'image' | 'never'
  /** Of the Secret, ConfigMap or image field. */
  readonly name?: string
  /** What happened to a Secret or ConfigMap. */
  readonly change?: 'changed' | 'added' | 'deleted'
}

export interface Comparison {
  readonly changes: readonly Change[]
  readonly doubts: readonly string[]
}

/** What is declared for the hosts of one node set. */
export interface Declared {
  readonly nodeSet: NodeSet
  readonly service: (name: string) => Service | undefined
  readonly servicesRead: boolean
  readonly images: Texts | undefined
  readonly certificatesUnread: string | undefined
  readonly content: (source: Source) => Content
  readonly certificates: (service: string, hostName: string) => readonly Certificate[]
  /** Whether several namespaces have a certificate of this name. */
  readonly isShared: (certificate: string) => boolean
}

export type CompareService = (name: string, run: DeploymentRun | undefined, host: Host) => Comparison

/** The result is for one node set: it remembers what is equal for all of its hosts. */
export function serviceComparison(declared: Declared): CompareService {
  const compareShared = remember((name, run) => compareForAll(name, run, declared))
  return (name, run, host) => {
    if (!run) return { changes: [{ kind: 'never' }], doubts: [] }
    const common = compareShared(name, run)
    const results = [
      ...host.sources.map((source) => compareSource(source, run, declared.content(source))),
      ...declared
        .certificates(name, host.hostName)
        .map((certificate) => compareCertificate(certificate, run, declared)),
    ]
    if (results.length === 0) return common
    return {
      changes: [...common.changes, ...results.flatMap(({ change }) => change ?? [])],
      doubts: [...common.doubts, ...results.flatMap(({ doubt }) => doubt ?? [])],
    }
  }
}

/** What is equal for all hosts of the node set that the run brought this service to. */
function compareForAll(name: string, run: DeploymentRun, declared: Declared): Comparison {
  const { nodeSet } = declared
  const service = declared.service(name)
  const sources = distinctSources([...(service?.sources ?? []), ...nodeSet.sources])
  const results = [
    compareSpec(run, nodeSet),
    compareDefinition(name, service, run, declared),
    ...(service ? compareImages(service, run, declared.images) : []),
    ...sources.map((source) => compareSource(source, run, declared.content(source))),
  ]
  const { machineHash } = run
  const isOtherMachine = machineHash !== undefined && (nodeSet.machineHash ?? machineHash) !== machineHash
  const changes = results.flatMap(({ change }) => change ?? [])
  return {
    changes: isOtherMachine ? [...changes, { kind: 'machine' }] : changes,
    doubts: [...results.flatMap(({ doubt }) => doubt ?? []), ...certificateDoubts(service, declared)],
  }
}

function compareSpec({ name, configHash }: DeploymentRun, nodeSet: NodeSet): SourceResult {
  if (!nodeSet.isObserved) return { doubt: 'the operator has not seen the last change of the node set' }
  if (configHash === undefined || nodeSet.configHash === undefined)
    return { doubt: `the hash of the node set in deployment ${name} is not recorded` }
  return configHash === nodeSet.configHash ? {} : { change: { kind: 'spec' } }
}

function compareDefinition(
  name: string,
  service: Service | undefined,
  { created }: DeploymentRun,
  { servicesRead }: Pick<Declared, 'servicesRead'>,
): SourceResult {
  if (!service) return { doubt: servicesRead ? `service ${name} does not exist` : 'services could not be read' }
  return created !== '' && (service.changed ?? '') > created ? { change: { kind: 'service', name } } : {}
}

function compareImages(
  { imageFields }: Service,
  run: DeploymentRun,
  images: Texts | undefined,
): readonly SourceResult[] {
  return imageFields.map((field) => {
    const declared = getOwn(images, field)
    const deployed = getOwn(run.images, field)
    const isKnown = declared !== undefined && deployed !== undefined
    return isKnown && declared !== deployed ? { change: { kind: 'image', name: field } } : {}
  })
}

function certificateDoubts(
  service: Service | undefined,
  { nodeSet, certificatesUnread }: Pick<Declared, 'nodeSet' | 'certificatesUnread'>,
): readonly string[] {
  const isConcerned = nodeSet.tlsEnabled && service?.hasCertificates === true
  if (certificatesUnread === undefined || !isConcerned) return []
  return [`certificates were not compared: ${certificatesUnread}`]
}

/** A comparison costs more than a lookup, and most hosts of a node set have the same runs. */
function remember(
  compare: (name: string, run: DeploymentRun) => Comparison,
): (name: string, run: DeploymentRun) => Comparison {
  const known = new Map<DeploymentRun, Map<string, Comparison>>()
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

function compareSource({ kind, name, optional }: Source, run: DeploymentRun, content: Content): SourceResult {
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
  run: DeploymentRun,
  { isShared }: Pick<Declared, 'isShared'>,
): SourceResult {
  const recorded = getOwn(run.secretHashes, name)
  // A certificate for a service that was added later: the changed node set is reported.
  if (recorded === undefined || recorded === hash) return {}
  if (hash === undefined) return { doubt: `Secret ${name} was not compared: its values are not in the dump` }
  // The operator looks for certificates in all namespaces and records the last one of the same name.
  if (isShared(name)) return { doubt: `Secret ${name} exists in several namespaces, and deployments record only one` }
  return { change: { kind: 'Secret', name, change: 'changed' } }
}

function distinctSources(sources: readonly Source[]): readonly Source[] {
  return [...new Map(sources.map((source) => [`${source.kind}/${source.name}`, source])).values()]
}
