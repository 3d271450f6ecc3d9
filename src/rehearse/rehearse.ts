/**
 * Rehearses a site: boots its nodes as virtual machines behind switches with its VLANs, applies its policies, attaches
 * pods, and tests what reaches what. Everything is in an enclosure that ends with this process.
 */
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readData } from '../data/data.ts'
import { repeatVips, silentVips } from '../deploy/run-probes.ts'
import { failure } from '../errors/failure.ts'
import { hasErrors } from '../errors/finding.ts'
import type { Plan } from '../plan/plan.ts'
import type { BuildContext } from '../sandbox/build/ensure-programs.ts'
import { evaluateProbes } from '../verify/probe/probe-results.ts'
import { type MatrixCell, reachMatrix } from '../verify/probe/reach-matrix.ts'
import type { CheckResult } from '../verify/verify.ts'
import { announcedObjects } from './announce/announced-objects.ts'
import { prepareAnnouncer } from './announce/announcer.ts'
import { askDns, planDnsVips } from './announce/dns-vip.ts'
import { isReachedOver } from './announce/leaf-plan.ts'
import type { RunningLeaf } from './announce/leaf-router.ts'
import { loseRoutes } from './announce/lose-routes.ts'
import { type MovedVip, moveVips, planMove } from './announce/move-vip.ts'
import { askSpeakers } from './announce/speakers.ts'
import { applyPolicies, reapplyPolicies } from './apply-policies.ts'
import { type Enclosure, openEnclosure } from './enclosure.ts'
import { applyFault, type FaultName, type FaultyTopology } from './faults.ts'
import { faultUnavailable } from './findings.ts'
import { planHosts } from './hosts/host-plan.ts'
import { connectHosts, probeHosts } from './hosts/hosts.ts'
import { ensureNodeImage } from './image/node-image.ts'
import { ensureOpenVswitch } from './image/unpacked-packages.ts'
import { endKept, recordKept } from './kept.ts'
import { kernelSettings } from './kernel-settings.ts'
import { ensureSavedMachine } from './machine/saved-machine.ts'
import { planMultusPods } from './multus/multus-plan.ts'
import { attachWithMultus } from './multus/multus-pods.ts'
import { type RunningNode, startNode } from './nodes.ts'
import { attachPods, probePods } from './probe-networks.ts'
import {
  announcementCheck,
  attachCheck,
  dnsCheck,
  judgeCheck,
  moveCheck,
  multusCheck,
  policyCheck,
  reapplyCheck,
  removalCheck,
  routeLossCheck,
  switchCheck,
  type UnjudgedCheck,
  withoutPorts,
} from './rehearsal-checks.ts'
import {
  type NodePolicies,
  narrowPlan,
  planPods,
  planPolicies,
  type RehearsalScope,
  type RehearsedPod,
  spreadPolicies,
} from './rehearsal-plan.ts'
import { planRemoval, removeCloud } from './remove-cloud.ts'
import { startSwitch } from './switch/switch.ts'
import { judgeSwitches } from './switch/switch-observation.ts'
import { planTopology, type Topology } from './topology.ts'

export interface RehearseRequest extends RehearsalScope {
  readonly plan: Plan
  /** A mistake that is built into the switches. */
  readonly fault?: FaultName | undefined
  /** Whether KVM is not used, also where it works. */
  readonly isEmulated?: boolean
  /** Whether the machines stay: the networks of the last cloud are not removed then. */
  readonly keep?: boolean
  /** Called before everything ends. */
  readonly beforeEnd?: (enclosure: Enclosure) => Promise<void>
}

/** How long a part took. */
export interface Phase {
  readonly name: string
  readonly seconds: number
}

export interface Rehearsal {
  readonly nodes: readonly string[]
  readonly clouds: readonly string[]
  /** What was built in: `the switch port of worker-0 enp6s0 lacks VLAN 20`. */
  readonly fault?: string
  readonly results: readonly CheckResult[]
  readonly matrix: readonly MatrixCell[]
  readonly phases: readonly Phase[]
  /** VIPs of the node that was cut off, one of each family, with the time that their moves took. */
  readonly vipMoves?: readonly MovedVip[]
  /** The process that holds the machines that are kept. */
  readonly keptBy?: number
}

/** VIPs that BGP routers have learnt. */
interface RoutedVips {
  readonly leaves: readonly RunningLeaf[]
  readonly vips: readonly string[]
}

/** Together three minutes for speakers on a busy machine to agree and to answer, as for the move of a VIP. */
const VIP_PAUSE_MS = 10_000
const VIP_REPEATS = 15

export async function rehearse(request: RehearseRequest, context: BuildContext): Promise<Rehearsal> {
  const { notify, signal } = context
  const announces = request.fault === undefined
  // BGP routers are asked for VIPs, and pods on the segments are not.
  const isAnswered = announces && request.plan.from.cluster.metallb.mode === 'layer2'
  const plan = narrowPlan(request.plan, { ...request, vips: isAnswered })
  const topology = planTopology(request.plan, plan.from.cluster.nodes)
  const { topology: built, description, plugs } = breakTopology(request.fault, topology, plan)
  const policies = planPolicies(request.plan, plan)
  const pods = planPods(plan)
  const hosts = planHosts(plan, topology, request.nodes)
  const settings = kernelSettings(request.plan)
  const phases: Phase[] = []
  if (description !== '') notify({ kind: 'announcement', text: `Built-in fault: ${description}` })
  const phase = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    signal?.throwIfAborted()
    notify({ kind: 'progress', text: name })
    const startedAt = performance.now()
    const result = await work()
    phases.push({ name, seconds: Math.round((performance.now() - startedAt) / 100) / 10 })
    return result
  }

  const { openVswitch, saved, announcer } = await phase('preparing image and machines', async () => ({
    openVswitch: await ensureOpenVswitch(context),
    saved: await ensureSavedMachine(await ensureNodeImage(context), context, request),
    announcer: announces ? await prepareAnnouncer(plan, topology, context) : undefined,
  }))
  const enclosure = await openEnclosure()
  let isKept = false
  try {
    const { switches, nodes } = await phase('starting switches and nodes', async () => {
      const running = await startSwitch(
        enclosure,
        openVswitch,
        [...built.switches, ...(announcer?.switches ?? [])],
        signal,
      )
      for (const plug of [...topology.routers, ...plugs, ...(announcer?.plugs ?? [])]) await running.plug(plug)
      await connectHosts(enclosure, running, hosts)
      const started = await Promise.all(
        built.nodes.map((node) =>
          startNode(enclosure, node, { saved, settings, addressed: announcer?.addressed(node.name) ?? [] }, signal),
        ),
      )
      return { switches: running, nodes: started }
    })
    const onEveryNode = async <T>(
      all: readonly NodePolicies[],
      work: (node: RunningNode, nodePolicies: NodePolicies) => Promise<readonly T[]>,
    ): Promise<readonly T[]> => {
      const pairs = nodes.flatMap((node) =>
        all.filter(({ node: name }) => name === node.name).map((nodePolicies) => ({ node, nodePolicies })),
      )
      return (await Promise.all(pairs.map((pair) => work(pair.node, pair.nodePolicies)))).flat()
    }

    const results: CheckResult[] = []
    const check = (unjudged: UnjudgedCheck): void => {
      results.push(judgeCheck(unjudged, plan.from.accept))
    }
    // It starts while nmstate works; an error is thrown where its result is needed.
    const apiStart = announcer?.startApi(enclosure, signal)
    apiStart?.catch(() => undefined)
    const outcomes = await phase('applying policies', () =>
      onEveryNode(policies, (node, nodePolicies) => applyPolicies(node, nodePolicies, signal)),
    )
    let vipMoves: readonly MovedVip[] = []
    let routed: RoutedVips = { leaves: [], vips: [] }
    const finish = async (matrix: readonly MatrixCell[]): Promise<Rehearsal> => {
      await request.beforeEnd?.(enclosure)
      const rehearsal: Rehearsal = {
        ...describe(plan, results, matrix, phases),
        ...(description !== '' && { fault: description }),
        ...(vipMoves.length > 0 && { vipMoves }),
      }
      if (!request.keep) return rehearsal
      for (const node of nodes) node.disconnect()
      await endKept(context.paths)
      await recordKept(context.paths, { site: plan.site, nodes: rehearsal.nodes, pid: enclosure.pid })
      await enclosure.keep()
      isKept = true
      return { ...rehearsal, keptBy: enclosure.pid }
    }
    const testLosses = async (attached: readonly RehearsedPod[], busybox: string): Promise<void> => {
      const removal = request.fault === undefined && !request.keep ? planRemoval(attached) : undefined
      if (removal) {
        const lost = await phase(`removing ${removal.cloud}`, () => removeCloud(removal, nodes, policies, signal))
        check(removalCheck(lost, removal.cloud))
      }
      const target = isAnswered && !request.keep ? planMove(plan, topology) : undefined
      if (target) {
        const deps = { enclosure, switches, nodes, busybox, signal }
        const loss = await phase('cutting off a node with VIPs', () => moveVips(target, topology, deps))
        check(moveCheck(loss))
        vipMoves = loss.moved
      }
      const removed = plan.clouds.find(({ name }) => name === removal?.cloud)
      const leaves = routed.leaves.filter(({ leaf }) => !removed || !isReachedOver(leaf, removed))
      if (leaves.length > 0 && !request.keep) {
        const loss = await phase('cutting off a node', () => loseRoutes(leaves, { ...routed, nodes, signal }))
        if (loss) check(routeLossCheck(loss))
      }
    }
    check(policyCheck(outcomes))
    if (hasErrors(results.flatMap(({ findings }) => findings))) return await finish([])
    // With a fault the question is what the packets show; the policies are those of every other run.
    if (request.fault === undefined) {
      const again = spreadPolicies(policies)
      const changed = await phase('applying policies a second time', () =>
        onEveryNode(again, (node, nodePolicies) => reapplyPolicies(node, nodePolicies, signal)),
      )
      check(reapplyCheck(changed, again.flatMap((nodePolicies) => nodePolicies.policies).length))
    }
    if (announcer && apiStart) {
      const api = await phase('starting the API server', () => apiStart)
      const announced = announcedObjects(
        request.plan,
        narrowPlan(request.plan, { ...request, vips: true }),
        announcer.nodes,
      )
      const { findings, leaves } = await phase('announcing VIPs', () =>
        announcer.announce(enclosure, api, announced, nodes, signal),
      )
      check(announcementCheck(findings, announced.addresses.length))
      if (findings.length === 0) routed = { leaves, vips: announced.addresses }
      // Before the other pods, which have the addresses that whereabouts gives out first.
      const byMultus = planMultusPods(plan)
      const differing = await phase('attaching pods with Multus', () => attachWithMultus(byMultus, nodes, api, signal))
      check(multusCheck(differing, byMultus.flatMap(({ networks }) => networks).length))
    }
    const { attached, failed } = await phase('attaching pods', () => attachPods(nodes, pods, signal))
    check(attachCheck(failed, pods.length))
    const busybox = path.join(openVswitch, 'bin/busybox')
    const options = { program: readData('probe.sh'), signal }
    const runs = await phase('testing reach and isolation', async () => {
      const probes = await Promise.all([
        probePods(plan, nodes, attached, { ...options, hosts }),
        probeHosts(plan, hosts, attached, { ...options, enclosure, busybox }),
      ])
      const pause = () => sleep(VIP_PAUSE_MS, undefined, signal ? { signal } : {})
      return repeatVips(probes.flat(), { count: VIP_REPEATS, pause })
    })
    const accounts = await askSpeakers(silentVips(runs), nodes, signal)
    const dns = isAnswered ? planDnsVips(plan, attached) : []
    if (dns.length > 0) {
      check(dnsCheck(await phase('asking DNS on its VIP', () => askDns(dns, nodes, attached, signal)), dns.length))
    }
    const routers = [...topology.routers, ...(announcer?.routers ?? []), ...hosts.map(({ plug }) => plug)]
    const connected = { ...topology, routers }
    const findings = judgeSwitches(plan, connected, await switches.observe(built.switches.map(({ role }) => role)))
    check(switchCheck(findings, topology.switches.flatMap(({ ports }) => ports).length))
    const checks = evaluateProbes(plan, runs, failed, accounts)
      .filter(({ id }) => isAnswered || id !== 'probe-vips')
      .map(withoutPorts)
    await testLosses(attached, busybox)
    results.push(...checks)
    return await finish(reachMatrix(plan, runs))
  } finally {
    if (!isKept) await enclosure.close()
  }
}

/** Without a fault the topology stays as it is planned. */
function breakTopology(fault: FaultName | undefined, topology: Topology, plan: Plan): FaultyTopology {
  if (fault === undefined) return { topology, description: '', plugs: [] }
  const broken = applyFault(fault, topology, plan)
  if ('unavailable' in broken) throw failure(faultUnavailable, { fault, reason: broken.unavailable })
  return broken
}

function describe(
  { clouds, from }: Plan,
  results: readonly CheckResult[],
  matrix: readonly MatrixCell[],
  phases: readonly Phase[],
): Rehearsal {
  return {
    nodes: from.cluster.nodes.map(({ name }) => name),
    clouds: clouds.map(({ name }) => name),
    results,
    matrix,
    phases,
  }
}
