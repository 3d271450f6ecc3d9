/** Prepares what announces the VIPs of a rehearsal: the API server beside the nodes, its network, the speakers, and BGP routers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { getString } from '../../api/raw-object.ts'
import type { Finding } from '../../errors/finding.ts'
import type { Plan } from '../../plan/plan.ts'
import { type BuildContext, ensurePrograms } from '../../sandbox/build/ensure-programs.ts'
import { ensureUpstreamCrds } from '../../sandbox/crds/crd-sets.ts'
import type { Enclosure } from '../enclosure.ts'
import { ensureFrr } from '../image/unpacked-packages.ts'
import type { AddressedNic } from '../node-scripts.ts'
import type { RunningNode } from '../nodes.ts'
import type { MachinePlug } from '../switch/switch-commands.ts'
import type { Switch, Topology } from '../topology.ts'
import type { AnnouncedObjects } from './announced-objects.ts'
import { type ApiServer, clusterPrograms, startApiServer } from './api-server.ts'
import { type ClusterNode, clusterSwitch, controlPlug, planClusterNodes } from './cluster-network.ts'
import { type ExpectedRoutes, missingRoutes, planLeaves } from './leaf-plan.ts'
import { judgeRoutes, type RunningLeaf, startLeaves } from './leaf-router.ts'
import { announceVips } from './speakers.ts'

export interface Announcer {
  readonly nodes: readonly ClusterNode[]
  readonly switches: readonly Switch[]
  readonly plugs: readonly MachinePlug[]
  /** Routers on segments of the site. */
  readonly routers: readonly MachinePlug[]
  readonly addressed: (node: string) => readonly AddressedNic[]
  /** Starts the API server, with the kinds of MetalLB, Multus and whereabouts. */
  readonly startApi: (enclosure: Enclosure, signal?: AbortSignal) => Promise<ApiServer>
  /** Returns when every VIP is announced, or with the reason, and the BGP routers. */
  readonly announce: (
    enclosure: Enclosure,
    api: ApiServer,
    announced: AnnouncedObjects,
    nodes: readonly RunningNode[],
    signal?: AbortSignal,
  ) => Promise<{ readonly findings: readonly Finding[]; readonly leaves: readonly RunningLeaf[] }>
}

/** Of the kinds that programs in nodes read and write. */
const GROUPS = ['metallb.io', 'k8s.cni.cncf.io', 'whereabouts.cni.cncf.io']

export async function prepareAnnouncer(plan: Plan, topology: Topology, context: BuildContext): Promise<Announcer> {
  const programs = await ensurePrograms(clusterPrograms, context)
  const { crds } = await ensureUpstreamCrds('today', context)
  const definitions = crds.filter((crd) => GROUPS.includes(getString(crd, 'spec', 'group') ?? ''))
  const cluster = planClusterNodes(topology.nodes)
  const leaves = planLeaves(plan, topology)
  const frr = leaves.length > 0 ? await ensureFrr(context) : ''
  const isOnSegment = (address: string): boolean =>
    topology.routers.some(({ addresses }) => addresses.some((prefixed) => prefixed.startsWith(`${address}/`)))
  const neighbours = leaves.filter((leaf) => !leaf.plug && !isOnSegment(leaf.address)).map(({ address }) => address)
  const control = {
    ...controlPlug,
    addresses: [...controlPlug.addresses, ...neighbours.map((address) => `${address}/32`)],
  }
  const routers = leaves.flatMap((leaf) => leaf.plug ?? [])
  return {
    nodes: cluster,
    switches: [clusterSwitch(cluster)],
    plugs: [control, ...routers],
    routers,
    addressed: (node) =>
      cluster
        .filter(({ name }) => name === node)
        .map(({ nic, address }) => ({ nic, address: `${address}/24`, neighbours })),
    startApi: async (enclosure, signal) => {
      const api = await startApiServer(enclosure, programs, signal)
      await api.apply(definitions)
      return api
    },
    announce: async (enclosure, api, announced, running, signal) => {
      const started = await startLeaves(enclosure, frr, leaves)
      const silent = await announceVips(announced, { api, nodes: running, cluster, signal })
      const nodes = running.map(({ name }) => name)
      const missing =
        silent.length > 0 ? [] : await waitForRoutes(started, { vips: announced.addresses, nodes }, signal)
      return { findings: [...silent, ...missing], leaves: started }
    },
  }
}

/** A speaker tries again after at most two minutes when its first connection fails. */
const ROUTES_MS = 240_000

async function waitForRoutes(
  leaves: readonly RunningLeaf[],
  expected: ExpectedRoutes,
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  const deadline = performance.now() + ROUTES_MS
  for (;;) {
    const missing = await judgeRoutes(leaves, (leaf, routes) => missingRoutes(leaf, expected, routes))
    if (missing.length === 0 || performance.now() > deadline) return missing
    await sleep(1000, undefined, signal ? { signal } : {})
  }
}
