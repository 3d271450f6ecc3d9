/**
 * What the data plane controllers share: caches of the kinds that they read, the runs, and what was worked out of a node
 * already.
 *
 * Made once per runtime. Webhooks read it too, on every replica; only the leader writes.
 */

import type { DnsData } from '../api/dnsdata.ts'
import type { DnsMasq } from '../api/dnsmasq.ts'
import { type IpSet, ipSets } from '../api/ipset.ts'
import { type NetConfig, netConfigs } from '../api/netconfig.ts'
import { type GroupVersionKind, type KubeObject, objectKey } from '../api/object.ts'
import type { EnvVar } from '../api/pod.ts'
import { dnsDatas, dnsMasqs } from '../controllers/dns/dns-kinds.ts'
import { createOwnWrites, type OwnWrites, type PendingCreates, trackPendingCreates } from '../controllers/kit/writes.ts'
import type { Finding } from '../errors/finding.ts'
import type { Watch } from '../kube/controller.ts'
import type { EventRecord } from '../kube/event-recorder.ts'
import type { Runtime, SharedCache } from '../kube/runtime.ts'
import { ansibleRuns } from './kinds/ansible-run.ts'
import { type DataPlane, dataPlanes, type NodeSection } from './kinds/data-plane.ts'
import { type DataPlaneService, dataPlaneServices } from './kinds/data-plane-service.ts'
import { type DataPlaneNode, dataPlaneNodes } from './kinds/node.ts'
import { type DataPlaneRole, dataPlaneRoles } from './kinds/role.ts'
import type { ServiceObject } from './kinds/service-object.ts'
import { type BareMetalHost, byConsumer, consumerKeys } from './machines/bare-metal.ts'
import { addressVars } from './nodes/address-vars.ts'
import type { HostVars } from './nodes/inventory.ts'
import { nameservers } from './nodes/node-dns.ts'
import { hashStepInputs, type RunnableStep, resolveStep, type Step } from './nodes/phase-zero.ts'
import { type AnsibleVars, type EffectiveNode, parseAnsibleVars, resolveNode } from './rules/inheritance.ts'
import { checkNode, checkRole } from './rules/role-and-node.ts'
import { defaultRunRetry, type RunRetry } from './runs/decide-step.ts'
import { findMountedSources, hashMountedSources } from './runs/mounted-inputs.ts'
import { readPlaybook } from './runs/playbooks.ts'
import { createRunIndex, type RunIndex } from './runs/run-index.ts'
import type { ServiceDefinition } from './service-definitions/definition.ts'
import type { Environment } from './service-definitions/images.ts'
import type { ControlPlane } from './services/control-plane.ts'

export const FIELD_MANAGER = 'stackloom-dataplane'
/** Keeps a node until its services and its machine are given back, and a service until its host is out of its cloud. */
export const FINALIZER = 'stackloom.dev/data-plane'

export const secretKind = { apiVersion: 'v1', kind: 'Secret' } as const
export const configMapKind = { apiVersion: 'v1', kind: 'ConfigMap' } as const

export interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

/** What follows from the specs of a node and its role. */
export interface Derived {
  readonly effective: EffectiveNode
  /** What is wrong in them, whatever else there is in the cluster. */
  readonly problems: readonly Finding[]
}

export interface World {
  readonly client: Runtime['client']
  /** What every view of a node reads: whoever looks at one waits until all of it was read. */
  readonly whole: readonly Watch[]
  readonly record: (happening: EventRecord) => void
  /** Our own writes of status: what a role says of itself concerns none of its nodes. */
  readonly echoes: OwnWrites
  readonly env: Environment
  readonly retry: RunRetry
  /** So long a role waits for more of its nodes before it looks at them all. */
  readonly settleMs: number
  /** Each node that is under way lets so much pass before it is told of; its end, and whatever goes wrong, at once. */
  readonly progressMs: number
  /** The text of a playbook of our own. */
  readonly playbook: (name: string) => Promise<string>
  readonly services: readonly ServiceDefinition[]
  /** Services whose kinds this cluster does not serve: whoever asks for one is told so. */
  readonly unserved: readonly ServiceDefinition[]
  readonly controlPlane: ControlPlane
  readonly dataPlanes: SharedCache<DataPlane>
  readonly roles: SharedCache<DataPlaneRole>
  readonly nodes: SharedCache<DataPlaneNode>
  readonly steps: SharedCache<DataPlaneService>
  readonly secrets: SharedCache<Secret>
  readonly freshSecrets: PendingCreates<Secret>
  readonly configMaps: SharedCache<KubeObject>
  readonly runs: RunIndex
  readonly objectsOf: (definition: ServiceDefinition) => SharedCache<ServiceObject>
  readonly cacheOf: (kind: GroupVersionKind) => SharedCache<KubeObject>
  /** BareMetalHosts, where metal3 is installed. */
  readonly machines: SharedCache<BareMetalHost> | undefined
  /** NetConfigs and IPSets, where addresses are managed. */
  readonly netConfigs: SharedCache<NetConfig> | undefined
  readonly ipSets: SharedCache<IpSet> | undefined
  /** DNSData and its servers, where names are served. */
  readonly dnsDatas: SharedCache<DnsData> | undefined
  readonly dnsMasqs: SharedCache<DnsMasq> | undefined
  /** The IPSet of a host, whoever made it. */
  readonly ipSetOf: (node: DataPlaneNode) => IpSet | undefined
  /** What they grant to a host. */
  readonly addressesOf: (node: DataPlaneNode) => HostVars
  readonly derived: (node: DataPlaneNode, role: DataPlaneRole | undefined) => Derived
  readonly step: (namespace: string, name: string) => Step
  readonly inputs: (
    effective: EffectiveNode,
    addresses: HostVars,
    step: RunnableStep,
    request: string | undefined,
    mounted: string | undefined,
  ) => string
  /** The hash of what stands in the Secrets and ConfigMaps that a node's runs are given. */
  readonly mounted: (namespace: string, effective: EffectiveNode) => string | undefined
}

/** Kinds of others, where they are served. */
export interface WorldKinds {
  readonly machines?: GroupVersionKind
  /** NetConfig and IPSet. */
  readonly addresses?: boolean
  /** DNSMasq and DNSData. */
  readonly names?: boolean
}

export interface WorldOptions extends WorldKinds {
  readonly runtime: Pick<Runtime, 'client' | 'cache'>
  readonly services: readonly ServiceDefinition[]
  readonly unserved?: readonly ServiceDefinition[]
  readonly controlPlane: ControlPlane
  readonly env: Environment
  readonly record?: (happening: EventRecord) => void
  readonly retry?: RunRetry
  readonly settleMs?: number
  readonly progressMs?: number
  readonly playbook?: World['playbook']
}

/** How nodes are found by their role, and service objects by their node. */
export const byRole = 'role'
export const byNode = 'node'
/** Nodes by the names of their hosts: their own, and the one that they say. */
export const byHost = 'host'
/** Nodes by the Secrets and ConfigMaps that they name themselves. */
export const bySource = 'source'
/** IPSets and DNSData by the uid of the node that they were made for. */
export const byMaker = 'data-plane-node'

export function createWorld(options: WorldOptions): World {
  const { runtime, services, controlPlane, env, machines } = options
  const cacheOf = (kind: GroupVersionKind): SharedCache<KubeObject> => runtime.cache({ kind })
  const caches = networkCaches(options)
  const ipSetOf = ({ metadata, spec }: DataPlaneNode): IpSet | undefined => {
    const { namespace = '' } = metadata
    const named = (name: string): IpSet | undefined => caches.ipSets?.get(objectKey({ namespace, name }))
    return named(spec.hostName || metadata.name) ?? named(metadata.name)
  }
  const secrets = runtime.cache<Secret>({ kind: secretKind })
  const configMaps = cacheOf(configMapKind)
  const objects = new Map(
    services.map((service) => [
      service,
      runtime.cache<ServiceObject>({ kind: service.annotation.kind }, { [byNode]: nodeOfService }),
    ]),
  )
  return {
    client: runtime.client,
    whole: readByViews(options),
    record: options.record ?? (() => {}),
    echoes: createOwnWrites(),
    env,
    retry: options.retry ?? defaultRunRetry,
    settleMs: options.settleMs ?? 200,
    progressMs: options.progressMs ?? 100,
    playbook: options.playbook ?? readPlaybook,
    services,
    unserved: options.unserved ?? [],
    controlPlane,
    dataPlanes: runtime.cache<DataPlane>({ kind: dataPlanes }),
    roles: runtime.cache<DataPlaneRole>({ kind: dataPlaneRoles }),
    nodes: runtime.cache<DataPlaneNode>(
      { kind: dataPlaneNodes },
      { [byRole]: roleOfNode, [byHost]: hostsOfNode, [bySource]: sourcesOfNode },
    ),
    steps: runtime.cache<DataPlaneService>({ kind: dataPlaneServices }),
    secrets,
    freshSecrets: trackPendingCreates(secrets),
    configMaps,
    mounted: (namespace, { runner }) =>
      hashMountedSources(runner, ({ kind, name }) =>
        (kind === 'Secret' ? secrets : configMaps).get(objectKey({ namespace, name })),
      ),
    runs: createRunIndex(runtime),
    objectsOf: (definition) => {
      const found = objects.get(definition)
      if (!found) throw new Error(`no cache for the service ${definition.name}`)
      return found
    },
    cacheOf,
    machines: machines && runtime.cache<BareMetalHost>({ kind: machines }, { [byConsumer]: consumerKeys }),
    ...caches,
    ipSetOf,
    addressesOf: (node) => {
      const ipSet = ipSetOf(node)
      return addressVars(ipSet, ipSet && nameservers(caches.dnsMasqs?.list(node.metadata.namespace) ?? []))
    },
    ...remembered(runtime.cache<DataPlaneService>({ kind: dataPlaneServices })),
  }
}

type NetworkCaches = Pick<World, 'netConfigs' | 'ipSets' | 'dnsDatas' | 'dnsMasqs'>

function networkCaches({ runtime, addresses, names }: WorldOptions): NetworkCaches {
  return {
    netConfigs: addresses ? runtime.cache<NetConfig>({ kind: netConfigs }) : undefined,
    ipSets: addresses ? runtime.cache<IpSet>({ kind: ipSets }, { [byMaker]: makerOf }) : undefined,
    dnsDatas: names ? runtime.cache<DnsData>({ kind: dnsDatas }, { [byMaker]: makerOf }) : undefined,
    dnsMasqs: names ? runtime.cache<DnsMasq>({ kind: dnsMasqs }) : undefined,
  }
}

/** The node that something was made for. */
const makerOf = ({ metadata }: KubeObject): readonly string[] =>
  (metadata.ownerReferences ?? []).flatMap(({ kind, uid }) => (kind === dataPlaneNodes.kind ? [uid] : []))

const roleOfNode = ({ metadata, spec }: DataPlaneNode): readonly string[] =>
  spec.role ? [`${metadata.namespace}/${spec.role}`] : []

const hostsOfNode = ({ metadata, spec }: DataPlaneNode): readonly string[] =>
  [...new Set([metadata.name, spec.hostName || metadata.name])].map((name) => `${metadata.namespace}/${name}`)

const sourcesOfNode = ({ metadata, spec }: DataPlaneNode): readonly string[] =>
  sourcesNamed(spec.node, spec.env).map((name) => `${metadata.namespace}/${name}`)

/** The Secrets and ConfigMaps that a section names: its SSH key, and what its runs are given. */
export function sourcesNamed(section: NodeSection = {}, env: readonly EnvVar[] = []): readonly string[] {
  const { ansibleSSHPrivateKeySecret: key, extraMounts = [] } = section
  if (extraMounts.length === 0 && env.length === 0) return key ? [key] : []
  const mounted = findMountedSources({ extraMounts, env }).map(({ name }) => name)
  return [...(key ? [key] : []), ...mounted]
}

const nodeOfService = ({ metadata, spec }: ServiceObject): readonly string[] => [
  `${metadata.namespace}/${spec.dataplaneNodeName ?? metadata.name}`,
]

/** The inputs of a step beside what holds for its node, and what they came to. */
interface Remembered {
  readonly addresses: HostVars
  readonly request: string | undefined
  readonly mounted: string | undefined
  readonly hash: string
}

/**
 * What follows from a node's and its role's spec is worked out once per generation: a role with a thousand nodes looks at
 * all of them often, and few of them change.
 */
function remembered(services: SharedCache<DataPlaneService>): Pick<World, 'derived' | 'step' | 'inputs'> {
  const deriveds = new Map<string, Derived & { readonly of: string }>()
  const texts = new Map<string, AnsibleVars>()
  const builtIn = new Map<string, Step>()
  const made = new WeakMap<DataPlaneService, Step>()
  const hashes = new WeakMap<EffectiveNode, Map<Step, Remembered>>()

  const read = (text: string | undefined): AnsibleVars => {
    const known = texts.get(text ?? '')
    if (known) return known
    if (texts.size > 1_000) texts.clear()
    const vars = parseAnsibleVars(text)
    texts.set(text ?? '', vars)
    return vars
  }
  return {
    derived: (node, role) => {
      const { uid, generation } = node.metadata
      if (uid === undefined || generation === undefined) return derive(node, role, read)
      const of = `${generation} ${role?.metadata.uid} ${role?.metadata.generation}`
      const known = deriveds.get(uid)
      if (known?.of === of) return known
      if (deriveds.size > 100_000) deriveds.clear()
      const made = { of, ...derive(node, role, read) }
      deriveds.set(uid, made)
      return made
    },
    step: (namespace, name) => {
      const found = services.get(`${namespace}/${name}`)
      const known = found ? made.get(found) : builtIn.get(`${namespace}/${name}`)
      if (known) return known
      const step = resolveStep(name, namespace, found)
      if (found) made.set(found, step)
      else builtIn.set(`${namespace}/${name}`, step)
      return step
    },
    inputs: (effective, addresses, step, request, mounted) => {
      const ofNode = hashes.get(effective) ?? new Map<Step, Remembered>()
      const known = ofNode.get(step)
      const same = known?.addresses === addresses && known.request === request && known.mounted === mounted
      if (same) return known.hash
      const hash = hashStepInputs(effective, addresses, step, request, mounted)
      ofNode.set(step, { addresses, request, mounted, hash })
      hashes.set(effective, ofNode)
      return hash
    },
  }
}

function derive(
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  read: (text: string | undefined) => AnsibleVars,
): Derived {
  const found = [...(role ? checkRole(role, []) : []), ...checkNode(node, [])].map(
    (fieldFinding) => fieldFinding.finding,
  )
  const problems = found.filter(({ severity }) => severity === 'error')
  return { effective: resolveNode(node, role, read), problems }
}

/**
 * What every view of a node reads. A controller watches these only to wait until they are whole: what is not read yet
 * would look as if it were not there.
 */
function readByViews({ machines, addresses, names }: WorldKinds): readonly Watch[] {
  const kinds = [dataPlaneRoles, dataPlaneNodes, dataPlaneServices, secretKind, configMapKind, ansibleRuns]
  const more = [
    ...(machines ? [machines] : []),
    ...(addresses ? [netConfigs, ipSets] : []),
    ...(names ? [dnsMasqs, dnsDatas] : []),
  ]
  return [...kinds, ...more].map((kind) => ({ kind, map: () => [] }))
}

/** A value of a Secret as text; undefined when there is none. */
export function secretValue(secret: Secret | undefined, key: string): string | undefined {
  const data = secret?.data?.[key]
  return data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8')
}
