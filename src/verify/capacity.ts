/**
 * Compares the capacity that the clouds need with the cluster, before a deployment and as a check of `verify`. Pure. CPU and
 * memory were measured on an idle highly available control plane, so they only cause warnings.
 */
import { type KubeObject, objectKey } from '../api/object.ts'
import { getList, getString } from '../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../api/snapshot.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { rangeSize } from '../net/range.ts'
import type { PlannedCloud, PlannedNetwork } from '../plan/plan.ts'
import {
  CLAIM,
  formatCount,
  NODE,
  type PlannedDocument,
  POD,
  SERVICE,
  type SiteCheck,
  STORAGE_CLASS,
  VOLUME,
} from './checks/check-definition.ts'
import { findRange, spanRanges } from './checks/planned-ranges.ts'
import {
  plannedVipTaken,
  tooFewAddresses,
  tooFewVolumes,
  tooLittleCpu,
  tooLittleMemory,
  tooManyClouds,
  tooManyHosts,
} from './findings/capacity-findings.ts'
import { ingressAddresses } from './readiness/load-balancer.ts'

const MEMORY = 15.4 * 2 ** 30
const CPU = 0.47
const SUPPORTED_CLOUDS = 5
const SUPPORTED_HOSTS = 250
const NO_PROVISIONER = 'kubernetes.io/no-provisioner'

/** The clouds that need capacity. */
export interface CapacityRequest {
  /** Nodes of the site. */
  readonly nodes: readonly string[]
  readonly clouds: readonly { readonly name: string; readonly namespace: string }[]
  readonly documents: readonly PlannedDocument[]
}

export const capacityKinds = [NODE, POD, CLAIM, VOLUME, STORAGE_CLASS]

export function capacityFindings(request: CapacityRequest, live: SnapshotIndex): readonly Finding[] {
  return [...checkLimits(request), ...checkNodes(request, live), ...checkVolumes(request, live)]
}

function checkLimits({ clouds, documents }: CapacityRequest): readonly Finding[] {
  const hosts = documents
    .filter(({ object }) => object.kind === 'OpenStackDataPlaneNodeSet')
    .reduce((sum, { object }) => sum + Object.keys(nodeSetNodes(object)).length, 0)
  return [
    ...(clouds.length > SUPPORTED_CLOUDS ? [finding(tooManyClouds, { clouds: clouds.length })] : []),
    ...(hosts > SUPPORTED_HOSTS ? [finding(tooManyHosts, { hosts })] : []),
  ]
}

function nodeSetNodes(nodeSet: KubeObject): Readonly<Record<string, unknown>> {
  return (nodeSet as { spec?: { nodes?: Record<string, unknown> } }).spec?.nodes ?? {}
}

/** Whether the nodes report their capacity; simulated nodes do not. */
function hasNodeCapacity(live: SnapshotIndex): boolean {
  return live
    .all(formatGroupKind(NODE))
    .some((node) => getString(node, 'status', 'allocatable', 'memory') !== undefined)
}

function checkNodes({ nodes, clouds }: CapacityRequest, live: SnapshotIndex): readonly Finding[] {
  if (!hasNodeCapacity(live)) return []
  const siteNodes = live.all(formatGroupKind(NODE)).filter(({ metadata }) => nodes.includes(metadata.name))
  const namespaces = new Set(clouds.map(({ namespace }) => namespace))
  const others = live.all(formatGroupKind(POD)).filter((pod) => isOtherPod(pod, nodes, namespaces))
  const free = (resource: 'cpu' | 'memory'): number =>
    siteNodes.reduce((sum, node) => sum + (parseQuantity(getString(node, 'status', 'allocatable', resource)) ?? 0), 0) -
    others.reduce((sum, pod) => sum + podRequest(pod, resource), 0)
  const count = clouds.length
  const found: Finding[] = []
  if (free('memory') < count * MEMORY)
    found.push(
      finding(tooLittleMemory, {
        clouds: count,
        needed: formatGibibytes(count * MEMORY),
        free: formatGibibytes(Math.max(0, free('memory'))),
      }),
    )
  if (free('cpu') < count * CPU)
    found.push(
      finding(tooLittleCpu, {
        clouds: count,
        needed: (count * CPU).toFixed(1),
        free: Math.max(0, free('cpu')).toFixed(1),
      }),
    )
  return found
}

/** Running pods outside the clouds on nodes of the site. */
function isOtherPod(pod: KubeObject, nodes: readonly string[], namespaces: ReadonlySet<string>): boolean {
  const phase = getString(pod, 'status', 'phase')
  return (
    !namespaces.has(pod.metadata.namespace ?? '') &&
    nodes.includes(getString(pod, 'spec', 'nodeName') ?? '') &&
    phase !== 'Succeeded' &&
    phase !== 'Failed'
  )
}

function podRequest(pod: KubeObject, resource: 'cpu' | 'memory'): number {
  return getList(pod, 'spec', 'containers').reduce<number>(
    (sum, container) => sum + (parseQuantity(getString(container, 'resources', 'requests', resource)) ?? 0),
    0,
  )
}

/** Only a class without a provisioner can have too few volumes. */
function checkVolumes({ clouds, documents }: CapacityRequest, live: SnapshotIndex): readonly Finding[] {
  if (!hasNodeCapacity(live)) return []
  const needed = countVolumes(documents.map(({ object }) => object))
  const namespaces = new Set(clouds.map(({ namespace }) => namespace))
  return [...needed].flatMap(([storageClass, count]) => {
    const definition = live.get(formatGroupKind(STORAGE_CLASS), storageClass)
    if (definition?.['provisioner'] !== NO_PROVISIONER) return []
    const there = live.all(formatGroupKind(VOLUME)).filter((volume) => isUsableVolume(volume, storageClass, namespaces))
    if (there.length >= count) return []
    return [finding(tooFewVolumes, { storageClass, needed: count, there: there.length })]
  })
}

function isUsableVolume(volume: KubeObject, storageClass: string, namespaces: ReadonlySet<string>): boolean {
  if (getString(volume, 'spec', 'storageClassName') !== storageClass) return false
  if (getString(volume, 'status', 'phase') === 'Available') return true
  return namespaces.has(getString(volume, 'spec', 'claimRef', 'namespace') ?? '')
}

type Fields = Readonly<Record<string, unknown>>

export function countVolumes(objects: readonly KubeObject[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const object of objects.filter(({ kind }) => kind === 'OpenStackControlPlane')) {
    const { spec } = object as { readonly spec?: Fields }
    const defaultClass = typeof spec?.['storageClass'] === 'string' ? spec['storageClass'] : ''
    visitStorage(spec ?? {}, 1, (fields, replicas) => {
      const name = typeof fields['storageClass'] === 'string' ? fields['storageClass'] : defaultClass
      counts.set(name, (counts.get(name) ?? 0) + replicas)
    })
    // Each RabbitMQ replica claims a volume without a field in its template.
    const queues = countQueueVolumes(spec)
    if (queues > 0) counts.set(defaultClass, (counts.get(defaultClass) ?? 0) + queues)
  }
  return counts
}

/** A template with storageRequest claims one volume per replica; `replicas` may be set one level above. */
function visitStorage(fields: Fields, inherited: number, found: (fields: Fields, replicas: number) => void): void {
  if (fields['enabled'] === false) return
  const { replicas } = fields
  const count = typeof replicas === 'number' ? replicas : inherited
  if (typeof fields['storageRequest'] === 'string') found(fields, count)
  for (const value of Object.values(fields)) {
    for (const entry of Array.isArray(value) ? value : [value])
      if (typeof entry === 'object' && entry !== null) visitStorage(entry as Fields, count, found)
  }
}

function countQueueVolumes(spec: Fields | undefined): number {
  const rabbitmq = spec?.['rabbitmq'] as { templates?: Record<string, { replicas?: number }> } | undefined
  return Object.values(rabbitmq?.templates ?? {}).reduce((sum, { replicas = 1 }) => sum + replicas, 0)
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
}

/** Parses a Kubernetes quantity such as `500m`, `16Gi` or `10G`. */
export function parseQuantity(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  const [, number, unit = ''] = /^([0-9.]+(?:e[0-9]+)?)([a-zA-Z]{0,2})$/.exec(String(value)) ?? []
  const factor = UNITS[unit]
  return number === undefined || factor === undefined ? undefined : Number(number) * factor
}

function formatGibibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 30)} GiB`
}

export const capacity: SiteCheck = {
  scope: 'site',
  id: 'room',
  title: 'Capacity',
  promise: 'the cluster has enough nodes, volumes and addresses for the clouds, and their number is supported',
  kinds: [NODE, SERVICE],
  optionalKinds: capacityKinds,
  run: ({ plan, documents, live }) => {
    const nodes = plan.from.cluster.nodes.map(({ name }) => name)
    const findings = capacityFindings({ nodes, clouds: plan.clouds, documents }, live)
    const seen = hasNodeCapacity(live) ? formatCount(nodes.length, 'node') : 'the nodes report no capacity'
    const count = hasNodeCapacity(live) ? nodes.length : 0
    return { seen, count, findings: [...findings, ...vipCapacityFindings(plan.clouds, live)] }
  },
}

interface HeldAddress {
  readonly address: string
  readonly service: KubeObject
}

/** Reports networks whose vips span has fewer free addresses than the cloud needs. */
export function vipCapacityFindings(clouds: readonly PlannedCloud[], live: SnapshotIndex): readonly Finding[] {
  return findHeldByOthers(clouds, live).flatMap(({ cloud, network, taken }) => {
    const size = spanRanges(network, 'vips').reduce((sum, { range }) => sum + rangeSize(range), 0n)
    const needed = new Set(network.vips.map(({ address }) => address)).size
    const free = Number(size) - new Set(taken.map(({ address }) => address)).size
    if (taken.length === 0 || free >= needed) return []
    const holders = [...new Set(taken.map(({ service }) => objectKey(service.metadata)))].join(', ')
    return [finding(tooFewAddresses, { owner: `${cloud.name}/${network.name}`, needed, free, holders })]
  })
}

/** Reports planned VIPs in use by other namespaces. Needed before a deployment, when the Services of the cloud do not exist yet. */
export function takenVipFindings(clouds: readonly PlannedCloud[], live: SnapshotIndex): readonly Finding[] {
  return findHeldByOthers(clouds, live).flatMap(({ cloud, network, taken }) =>
    taken.flatMap(({ address, service }) => {
      const slots = network.vips.filter((vip) => vip.address === address).map(({ slot }) => slot)
      if (slots.length === 0) return []
      const { apiVersion, kind, metadata } = service
      const { name, namespace = '' } = metadata
      const facts = { owner: `${cloud.name}/${network.name}`, address, slots, holder: objectKey(metadata) }
      return [finding(plannedVipTaken, facts, { where: { apiVersion, kind, namespace, name } })]
    }),
  )
}

function findHeldByOthers(clouds: readonly PlannedCloud[], live: SnapshotIndex) {
  const held = live
    .all('Service')
    .flatMap((service): readonly HeldAddress[] => ingressAddresses(service).map((address) => ({ address, service })))
  return clouds.flatMap((cloud) =>
    cloud.networks.map((network: PlannedNetwork) => {
      const spans = spanRanges(network, 'vips')
      const taken = held.filter(
        ({ address, service }) =>
          service.metadata.namespace !== cloud.namespace && findRange(spans, address) !== undefined,
      )
      return { cloud, network, taken }
    }),
  )
}
