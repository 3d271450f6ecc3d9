/**
 * Builds the objects from which MetalLB's speakers learn what to announce: the pools and advertisements that `up` applies,
 * nodes, and a Service with an endpoint for every VIP of the plan. Pure.
 */
import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Plan, PlannedCloud, PlannedVip } from '../../plan/plan.ts'
import { renderDocuments } from '../../render/render.ts'
import type { ClusterNode } from './cluster-network.ts'

export interface AnnouncedObjects {
  /** The namespace of MetalLB. */
  readonly namespace: string
  readonly mode: 'layer2' | 'bgp'
  /** In the order of their creation. */
  readonly objects: readonly KubeObject[]
  /** Objects with a status that no program of a rehearsal writes: the addresses of Services and speakers. */
  readonly statuses: readonly KubeObject[]
  readonly addresses: readonly string[]
}

export const SPEAKER_LABELS = { app: 'metallb', component: 'speaker' }

/**
 * `whole` is the plan of the site: its pools exist, whichever clouds are rehearsed. By BGP a speaker without FRR beside it
 * announces IPv4 alone.
 */
export function announcedObjects(whole: Plan, rehearsed: Plan, nodes: readonly ClusterNode[]): AnnouncedObjects {
  const { namespace, mode } = whole.from.cluster.metallb
  const isAnnounced = (address: string): boolean => mode === 'layer2' || !address.includes(':')
  const vips = rehearsed.clouds.flatMap((cloud) =>
    uniqueVips(cloud)
      .filter(({ address }) => isAnnounced(address))
      .map((vip) => ({ cloud, vip })),
  )
  const services = vips.map(({ cloud, vip }) => vipService(cloud, vip))
  const speakers = nodes.map((node) => speakerPod(node, namespace))
  const namespaces = [namespace, ...whole.clouds.map((cloud) => cloud.namespace)]
  return {
    namespace,
    mode,
    objects: [
      ...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
      ...nodes.map(({ name }) => ({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      })),
      ...renderDocuments(whole)
        .map(({ object }) => object)
        .filter(({ apiVersion }) => apiVersion.startsWith('metallb.io/'))
        // MetalLB's own object is for its operator.
        .filter(({ kind }) => kind !== 'MetalLB')
        .map((object) => (mode === 'bgp' ? withoutFrr(object) : object)),
      ...speakers.map(({ pod }) => pod),
      ...services.flatMap(({ service, slice }) => [service, slice]),
    ],
    statuses: [...speakers.map(({ status }) => status), ...services.map(({ status }) => status)],
    addresses: vips.map(({ vip }) => vip.address),
  }
}

/** What a speaker refuses without FRR beside it, and the password, which is in a Secret that the user creates. */
function withoutFrr(object: KubeObject): KubeObject {
  const { bfdProfile: _, passwordSecret: __, ...spec } = asRecord(object['spec'])
  const { addresses } = spec
  if (object.kind === 'BGPPeer') return { ...object, spec }
  if (object.kind !== 'IPAddressPool' || !Array.isArray(addresses)) return object
  return { ...object, spec: { ...spec, addresses: addresses.filter((range) => !String(range).includes(':')) } }
}

/** Services may share an address; one of them is enough to have it announced. */
function uniqueVips({ networks }: PlannedCloud): readonly PlannedVip[] {
  const vips = networks.flatMap((network) => network.vips)
  return [...new Map(vips.map((vip) => [vip.address, vip])).values()]
}

function vipService({ namespace }: PlannedCloud, { address }: PlannedVip) {
  const isSix = address.includes(':')
  const name = serviceName(address)
  const identity = { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace } }
  const port = { name: 'api', port: 443, protocol: 'TCP' }
  return {
    service: {
      ...identity,
      spec: {
        type: 'LoadBalancer',
        ipFamilies: [isSix ? 'IPv6' : 'IPv4'],
        allocateLoadBalancerNodePorts: false,
        ports: [port],
      },
    },
    slice: {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
      addressType: isSix ? 'IPv6' : 'IPv4',
      // Speakers announce an address only while a pod is ready behind it.
      endpoints: [{ addresses: [isSix ? '2001:db8::1' : '192.0.2.1'], conditions: { ready: true } }],
      ports: [port],
    },
    status: { ...identity, status: { loadBalancer: { ingress: [{ ip: address }] } } },
  }
}

export function serviceName(address: string): string {
  return `vip-${address.replaceAll(/[.:]+/g, '-')}`
}

/** Speakers find each other by their pods. */
function speakerPod({ name: node, address }: ClusterNode, namespace: string) {
  const identity = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: speakerName(node), namespace, labels: SPEAKER_LABELS },
  }
  return {
    pod: {
      ...identity,
      spec: { nodeName: node, hostNetwork: true, containers: [{ name: 'speaker', image: 'speaker' }] },
    },
    status: { ...identity, status: { phase: 'Running', podIP: address, podIPs: [{ ip: address }] } },
  }
}

export function speakerName(node: string): string {
  return `speaker-${node}`
}
