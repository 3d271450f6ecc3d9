/**
 * Creates the caches that the data plane controllers and webhooks share, with their indexes.
 *
 * Webhooks read them on every replica.
 */
import type { DnsData } from '../api/dnsdata.ts'
import type { DnsMasq } from '../api/dnsmasq.ts'
import { type IpSet, ipSets } from '../api/ipset.ts'
import { type NetConfig, netConfigs } from '../api/netconfig.ts'
import { type GroupVersionKind, type KubeObject, objectKey } from '../api/object.ts'
import type { EnvVar } from '../api/pod.ts'
import { dnsDatas, dnsMasqs } from '../controllers/dns/dns-kinds.ts'
import { type Contents, createContents } from '../controllers/kit/contents.ts'
import type { Source } from '../kube/cache.ts'
import type { Watch } from '../kube/controller.ts'
import type { Runtime, SharedCache } from '../kube/runtime.ts'
import { ansibleRuns } from './kinds/ansible-run.ts'
import {
  type DataPlane,
  type DataPlaneNode,
  type DataPlaneRole,
  type DataPlaneService,
  dataPlaneNodes,
  dataPlaneRoles,
  dataPlaneServices,
  dataPlanes,
  type NodeSection,
} from './kinds/data-plane.ts'
import type { ServiceObject } from './kinds/service-object.ts'
import { type BareMetalHost, byConsumer, consumerKeys } from './machines/bare-metal.ts'
import { findMountedSources } from './runs/input-hash.ts'
import type { ServiceDefinition } from './service-definitions/definition.ts'

export const secretKind = { apiVersion: 'v1', kind: 'Secret' } as const
const configMapKind = { apiVersion: 'v1', kind: 'ConfigMap' } as const
/** Every namespace has some, of any size: only those that an object names are read. */
export const secretSource: Source = { kind: secretKind, metadataOnly: true }
export const configMapSource: Source = { kind: configMapKind, metadataOnly: true }

export interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

export interface DataPlaneCaches {
  readonly dataPlanes: SharedCache<DataPlane>
  readonly roles: SharedCache<DataPlaneRole>
  readonly nodes: SharedCache<DataPlaneNode>
  readonly dataPlaneServices: SharedCache<DataPlaneService>
  readonly secrets: Contents<Secret>
  readonly configMaps: Contents
  readonly serviceObjects: (definition: ServiceDefinition) => SharedCache<ServiceObject>
  /** Not for Secrets and ConfigMaps. */
  readonly ofKind: (kind: GroupVersionKind) => SharedCache<KubeObject>
  /** Where metal3 is installed. */
  readonly machines: SharedCache<BareMetalHost> | undefined
  /** Whose machines every node may use; beside them those of its own namespace. */
  readonly machineNamespaces: readonly string[]
  /** Where addresses are managed. */
  readonly netConfigs: SharedCache<NetConfig> | undefined
  readonly ipSets: SharedCache<IpSet> | undefined
  /** Where names are served. */
  readonly dnsDatas: SharedCache<DnsData> | undefined
  readonly dnsMasqs: SharedCache<DnsMasq> | undefined
}

/** Kinds of other operators, where the cluster serves them. */
export interface OptionalKinds {
  readonly machines?: GroupVersionKind
  /** Namespaces whose machines every node may use; none by default. */
  readonly machineNamespaces?: readonly string[]
  /** NetConfig and IPSet. */
  readonly addresses?: boolean
  /** DNSMasq and DNSData. */
  readonly names?: boolean
}

/** Indexes: nodes by role, service objects by node. */
export const byRole = 'role'
export const byNode = 'node'
/** Nodes by the names of their hosts: the name of the node, and `hostName`. */
export const byHost = 'host'
/** Nodes by the Secrets and ConfigMaps that they name themselves. */
export const bySource = 'source'
/** IPSets and DNSData by the UID of the node that owns them. */
export const byOwnerNode = 'owner-node'

export function createCaches(
  { cache, client }: Pick<Runtime, 'cache' | 'client'>,
  services: readonly ServiceDefinition[],
  { machines, machineNamespaces = [], addresses, names }: OptionalKinds,
): DataPlaneCaches {
  const serviceObjects = new Map(
    services.map((definition) => [
      definition,
      cache<ServiceObject>({ kind: definition.annotation.kind }, { [byNode]: nodeOfService }),
    ]),
  )
  return {
    dataPlanes: cache<DataPlane>({ kind: dataPlanes }),
    roles: cache<DataPlaneRole>({ kind: dataPlaneRoles }),
    nodes: cache<DataPlaneNode>(
      { kind: dataPlaneNodes },
      { [byRole]: roleOfNode, [byHost]: hostsOfNode, [bySource]: sourcesOfNode },
    ),
    dataPlaneServices: cache<DataPlaneService>({ kind: dataPlaneServices }),
    secrets: createContents<Secret>({ kind: secretKind, client, metadata: cache(secretSource) }),
    configMaps: createContents({ kind: configMapKind, client, metadata: cache(configMapSource) }),
    serviceObjects: (definition) => {
      const objects = serviceObjects.get(definition)
      if (!objects) throw new Error(`no cache for the service ${definition.name}`)
      return objects
    },
    ofKind: (kind) => cache({ kind }),
    machineNamespaces,
    machines: machines && cache<BareMetalHost>({ kind: machines }, { [byConsumer]: consumerKeys }),
    netConfigs: addresses ? cache<NetConfig>({ kind: netConfigs }) : undefined,
    ipSets: addresses ? cache<IpSet>({ kind: ipSets }, { [byOwnerNode]: ownerNodeUids }) : undefined,
    dnsDatas: names ? cache<DnsData>({ kind: dnsDatas }, { [byOwnerNode]: ownerNodeUids }) : undefined,
    dnsMasqs: names ? cache<DnsMasq>({ kind: dnsMasqs }) : undefined,
  }
}

const ownerNodeUids = ({ metadata }: KubeObject): readonly string[] =>
  (metadata.ownerReferences ?? []).flatMap(({ kind, uid }) => (kind === dataPlaneNodes.kind ? [uid] : []))

const roleOfNode = ({ metadata, spec }: DataPlaneNode): readonly string[] =>
  spec.role ? [`${metadata.namespace}/${spec.role}`] : []

const hostsOfNode = ({ metadata, spec }: DataPlaneNode): readonly string[] =>
  [...new Set([metadata.name, spec.hostName || metadata.name])].map((name) => `${metadata.namespace}/${name}`)

const sourcesOfNode = ({ metadata, spec }: DataPlaneNode): readonly string[] =>
  namedSources(spec.node, spec.env).map((name) => `${metadata.namespace}/${name}`)

const nodeOfService = ({ metadata, spec }: ServiceObject): readonly string[] => [
  `${metadata.namespace}/${spec.dataplaneNodeName ?? metadata.name}`,
]

/** The Secrets and ConfigMaps that a section names: its SSH key and the sources of its mounts and variables. */
export function namedSources(section: NodeSection = {}, env: readonly EnvVar[] = []): readonly string[] {
  const { ansibleSSHPrivateKeySecret: key, extraMounts = [] } = section
  const mounted = findMountedSources({ extraMounts, env }).map(({ name }) => name)
  return key ? [key, ...mounted] : mounted
}

/** For watches: the keys of the owners of this kind. */
export function ownerKeys(kind: string): (object: KubeObject) => readonly string[] {
  return ({ metadata }) =>
    (metadata.ownerReferences ?? [])
      .filter((owner) => owner.kind === kind)
      .map(({ name }) => objectKey({ name, ...(metadata.namespace && { namespace: metadata.namespace }) }))
}

const viewedKinds = [dataPlaneRoles, dataPlaneNodes, dataPlaneServices, ansibleRuns]

/**
 * Watches of every kind that a node view reads. They enqueue nothing: a controller waits until their caches are
 * filled, because an object that is not read yet would look absent.
 */
export function nodeViewWatches({ machines, addresses, names }: OptionalKinds): readonly Watch[] {
  const kinds = [
    ...viewedKinds,
    ...(machines ? [machines] : []),
    ...(addresses ? [netConfigs, ipSets] : []),
    ...(names ? [dnsMasqs, dnsDatas] : []),
  ]
  const watched = [secretSource, configMapSource, ...kinds.map((kind) => ({ kind }))]
  return watched.map((source) => ({ ...source, map: () => [] }))
}

/** A value of a Secret as text. */
export function secretValue(secret: Secret | undefined, key: string): string | undefined {
  const data = secret?.data?.[key]
  return data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8')
}
