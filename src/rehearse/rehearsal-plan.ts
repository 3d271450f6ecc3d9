/**
 * Decides what a rehearsal does: which policies each node gets and in which order, and which pods test the networks.
 *
 * Pure. The policies and attachments are those that `up` applies.
 */
import type { KubeObject } from '../api/object.ts'
import { getString } from '../api/raw-object.ts'
import { groupByNode } from '../deploy/stages/node-networking-stage.ts'
import { formatAddress } from '../net/address.ts'
import {
  type Plan,
  type PlannedCloud,
  type PlannedNetwork,
  type PlannedSubnet,
  parseAddressRange,
} from '../plan/plan.ts'
import { CLOUD_LABEL } from '../render/labels.ts'
import { cniConfig } from '../render/multus.ts'
import { isBridgeProbe, probeGateways, renderProbe } from '../render/probe-pods.ts'
import { type RenderedDocument, renderDocuments } from '../render/render.ts'
import { freeSpans } from '../render/spans.ts'
import type { ProbePod } from '../verify/probe/probe-tasks.ts'

export interface RehearsalScope {
  readonly nodes: number
  /** Names of clouds; empty means all. */
  readonly clouds: readonly string[]
  /** Whether speakers announce the VIPs. */
  readonly vips?: boolean
}

/** The part of a plan that is rehearsed. */
export function narrowPlan(plan: Plan, { nodes, clouds, vips = false }: RehearsalScope): Plan {
  const kept = plan.from.cluster.nodes.slice(0, nodes)
  const names = new Set(kept.map(({ name }) => name))
  const rehearsed = plan.clouds.filter(({ name }) => clouds.length === 0 || clouds.includes(name))
  const segments = new Set(rehearsed.flatMap(({ networks }) => networks.map(({ segment }) => segment)))
  return {
    ...plan,
    clouds: rehearsed.map((cloud) => ({
      ...cloud,
      networks: cloud.networks.map((network) => ({
        ...network,
        vips: vips ? network.vips : [],
        nodes: network.nodes.filter(({ name }) => names.has(name)),
      })),
    })),
    segments: plan.segments.filter(({ id }) => segments.has(id)),
    from: { ...plan.from, cluster: { ...plan.from.cluster, nodes: kept } },
  }
}

export interface NodePolicies {
  readonly node: string
  /** In the order of `up`: the base, then the clouds. */
  readonly policies: readonly KubeObject[]
}

const POLICY = 'NodeNetworkConfigurationPolicy'

/** `whole` is the plan of the site: segments that several clouds share are decided there. */
export function planPolicies(whole: Plan, rehearsed: Plan): readonly NodePolicies[] {
  const clouds = new Set(rehearsed.clouds.map(({ name }) => name))
  const isRehearsed = ({ cloud, object }: RenderedDocument): boolean =>
    object.kind === POLICY && (cloud === undefined || clouds.has(cloud))
  const policies = renderDocuments(whole)
    .filter(isRehearsed)
    .map(({ object }) => object)
  const steps = groupByNode(policies)
  return rehearsed.from.cluster.nodes.map(({ name }) => ({
    node: name,
    policies: steps.filter(({ node }) => node === name).flatMap((step) => step.policies),
  }))
}

/** Every policy once, in turn on the nodes: for a second apply, which takes as long as the first one. */
export function spreadPolicies(all: readonly NodePolicies[]): readonly NodePolicies[] {
  return all.map(({ node, policies }, index) => ({
    node,
    policies: policies.filter((_, position) => position % all.length === index),
  }))
}

/** The cloud of a policy; undefined for the base. */
export function policyCloud({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[CLOUD_LABEL]
}

const NETWORK_LABEL = 'stackloom.dev/network'

export interface RehearsedPod extends ProbePod {
  /** Configuration of its CNI plugin. */
  readonly cni: Readonly<Record<string, unknown>>
  /** The interfaces that the plugin creates. */
  readonly interfaces: readonly string[]
}

/** The pods of `verify --probe`: one on every network of every cloud and on every node. */
export function planPods(plan: Plan): readonly RehearsedPod[] {
  return plan.clouds.flatMap((cloud) =>
    renderProbe(plan, cloud, { image: '', program: '' })
      .filter(({ kind }) => kind === 'Pod')
      .flatMap((pod) => {
        const network = cloud.networks.find(({ name }) => name === pod.metadata.labels?.[NETWORK_LABEL])
        return network ? [planPod(plan, cloud, network, pod)] : []
      }),
  )
}

function planPod(plan: Plan, cloud: PlannedCloud, network: PlannedNetwork, pod: KubeObject): RehearsedPod {
  const node = getString(pod, 'spec', 'nodeSelector', 'kubernetes.io/hostname') ?? ''
  const { ipam: _, ...link } = cniConfig(cloud, network)
  const probe = { cloud: cloud.name, network: network.name, node, namespace: cloud.namespace }
  const name = `${cloud.namespace}-${network.name}-${node}`
  if (isBridgeProbe(pod)) {
    return { ...probe, name, addresses: [], cni: { ...link, ipam: {} }, interfaces: ['net1', 'net2'] }
  }
  const index = plan.from.cluster.nodes.findIndex((candidate) => candidate.name === node)
  const assigned = network.subnets.flatMap((subnet) => {
    const address = podAddress(subnet, index)
    return address === undefined ? [] : [{ address, prefix: subnet.cidr.slice(subnet.cidr.indexOf('/')) }]
  })
  const gateways = probeGateways(pod)
  const routes = [
    ...network.podRoutes.map(({ destination, nexthop }) => ({ dst: destination, gw: nexthop })),
    ...gateways.map((gateway) => ({ dst: gateway.includes(':') ? '::/0' : '0.0.0.0/0', gw: gateway })),
  ]
  // whereabouts needs an API server, so the addresses that it would give out are given here.
  const addresses = assigned.map(({ address, prefix }) => ({ address: `${address}${prefix}` }))
  return {
    ...probe,
    name,
    addresses: assigned.map(({ address }) => address),
    gateways,
    cni: { ...link, ipam: { type: 'static', addresses, routes } },
    interfaces: ['net1'],
  }
}

/** The n-th address that whereabouts may give out; undefined when there are fewer. */
export function podAddress(subnet: PlannedSubnet, index: number): string | undefined {
  let left = BigInt(index)
  for (const span of freeSpans(subnet, 'pods')) {
    const { family, first, last } = parseAddressRange(span)
    const size = last - first + 1n
    if (left < size) return formatAddress({ family, value: first + left })
    left -= size
  }
  return undefined
}
