/**
 * Evaluates the output of probes: one check each for reach, VIPs, duplicates and isolation, per cloud. Findings that the
 * site file accepts fail none of them. Pure.
 */
import { groupBy } from '../../api/collections.ts'
import { type Finding, finding, hasErrors } from '../../errors/finding.ts'
import type { Plan, PlannedNetwork } from '../../plan/plan.ts'
import { applyAcceptances } from '../../site/accept.ts'
import { formatCount } from '../checks/check-definition.ts'
import {
  answeredTwice,
  foreignDhcp,
  gatewaySilent,
  interfaceMtu,
  isolationBroken,
  nodeAddressAnswers,
  peerUnreachable,
  podRouteMissing,
  probeMissing,
  routedThroughNode,
  smallFramesOnly,
  tagsPass,
  vipClosed,
  vipSilent,
} from '../findings/probe-findings.ts'
import type { CheckResult } from '../verify.ts'
import { openTestFindings } from './open-tests.ts'
import { areSeparateSegments, encodeTask, formatPodLocation, type ProbePod, type ProbeTask } from './probe-tasks.ts'

/** One probe with its tasks and the output of its script. */
export interface ProbeRun {
  readonly pod: ProbePod
  readonly tasks: readonly ProbeTask[]
  readonly output: string
}

/** A probe that did not run. */
export interface FailedProbe {
  readonly cloud: string
  /** `rhoso1/storage on worker-2`. */
  readonly from: string
  readonly reason: string
  readonly remedy: string
}

/** The remedy for pods of the cluster; a rehearsal has its own. */
export const CHECK_PROBE_PODS =
  'check the events of its pod; on OpenShift its ServiceAccount needs the SCC from the guide'

export interface Answer {
  readonly pod: ProbePod
  readonly task: ProbeTask
  /** Hardware addresses, `yes` or a number; empty without an answer. */
  readonly values: readonly string[]
}

export function evaluateProbes(
  plan: Plan,
  probings: readonly ProbeRun[],
  unprobed: readonly FailedProbe[],
  /** What the speakers say of VIPs that no node answers for, by address. */
  accounts: ReadonlyMap<string, string> = new Map(),
): readonly CheckResult[] {
  const parsed = probings.map((run) => ({ pod: run.pod, ...parseAnswers(run) }))
  const everything = parsed.flatMap(({ answers }) => answers)
  const site: ProbedSite = { plan, accounts, linkLocalOwners: linkLocalOwners(everything) }
  const { accept } = plan.from
  return plan.clouds.flatMap(({ name }) => {
    const answers = everything.filter(({ pod }) => pod.cloud === name)
    const missing = unprobed.filter(({ cloud }) => cloud === name)
    const isUntested = answers.length === 0 && missing.length === 0
    const absent = [
      ...missing,
      ...(isUntested ? [{ from: name, reason: 'no probe of the cloud has run', remedy: CHECK_PROBE_PODS }] : []),
    ]
    const probes = new Set(answers.map(({ pod }) => pod.name)).size
    return probeChecks.map(({ id, title, promise, tests, judge }): CheckResult => {
      const findings = applyAcceptances(judge(answers, name, site), accept)
      const gaps = applyAcceptances(
        [
          ...absent.map(({ from, reason, remedy }) => finding(probeMissing, { from, reason, remedy })),
          ...parsed
            .filter(({ pod }) => pod.cloud === name)
            .flatMap(({ pod, open }) =>
              openTestFindings(
                pod,
                open.filter((task) => tests.includes(task.kind)),
              ),
            ),
        ],
        accept,
      )
      const verdict = hasErrors(findings) ? 'failed' : hasErrors(gaps) ? 'unknown' : 'passed'
      const seen = formatCount(probes, 'probe')
      return { id, title, promise, cloud: name, seen, verdict, findings: [...findings, ...gaps] }
    })
  })
}

export interface ParsedRun {
  readonly answers: readonly Answer[]
  /** Tests without a result. */
  readonly open: readonly ProbeTask[]
}

export function parseAnswers({ pod, tasks, output }: ProbeRun): ParsedRun {
  const answersByTask = new Map(
    output.split('\n').flatMap((line) => {
      const [word = '', ...values] = line.trim().split(/\s+/)
      return word === '' ? [] : [[word, values.filter((value) => value !== 'silent')] as const]
    }),
  )
  const answers = tasks.flatMap((task): readonly Answer[] => {
    const values = answersByTask.get(encodeTask(task))
    // A pod that does not receive its own multicast has not tested the segment.
    const isDeaf = task.kind === 'neighbours' && values?.length === 0
    return values && !isDeaf ? [{ pod, task, values }] : []
  })
  const answered = new Set(answers.map(({ task }) => task))
  return { answers, open: tasks.filter((task) => !answered.has(task)) }
}

/** Tests that are made once more, because a busy machine may lose an answer; the later answer replaces the earlier one. */
export function tasksToRepeat(run: ProbeRun): readonly ProbeTask[] {
  const { answers, open } = parseAnswers(run)
  const silent = answers.filter(
    ({ task, values }) => (task.kind === 'peer' || task.kind === 'gateway') && values.length === 0,
  )
  return [...silent.map(({ task }) => task), ...open]
}

interface ProbedSite {
  readonly plan: Plan
  readonly accounts: ReadonlyMap<string, string>
  /** The link-local addresses of all pods. */
  readonly linkLocalOwners: ReadonlyMap<string, ProbePod>
}

function linkLocalOwners(answers: readonly Answer[]): ReadonlyMap<string, ProbePod> {
  return new Map(
    answers
      .filter(({ task }) => task.kind === 'link-local')
      .flatMap(({ pod, values }) => values.map((word) => [word, pod] as const)),
  )
}

interface ProbeCheck {
  readonly id: string
  readonly title: string
  readonly promise: string
  /** The tests that it judges: without their results the verdict is unknown. */
  readonly tests: readonly ProbeTask['kind'][]
  readonly judge: (answers: readonly Answer[], cloud: string, site: ProbedSite) => readonly Finding[]
}

const probeChecks: readonly ProbeCheck[] = [
  {
    id: 'probe-reach',
    title: 'Reach inside the cloud',
    promise: 'on every network every node reaches every other, with packets of the planned MTU, and the gateway',
    tests: ['mtu', 'peer', 'gateway', 'route'],
    judge: (answers) => answers.flatMap(reachFindings),
  },
  {
    id: 'probe-vips',
    title: 'VIPs on the wire',
    promise: 'one node answers for every VIP on its own network, and its port accepts connections',
    tests: ['vip'],
    judge: vipFindings,
  },
  {
    id: 'probe-duplicates',
    title: 'Duplicate addresses',
    promise: 'one machine answers for each address, and no other machine gives out addresses',
    tests: ['duplicate', 'dhcp', 'peer', 'gateway', 'vip'],
    judge: (answers) => answers.flatMap(duplicateFindings),
  },
  {
    id: 'probe-isolation',
    title: 'Isolation on the wire',
    promise: 'no address of another cloud answers on any network of this cloud, and no node forwards to one',
    tests: ['foreign', 'node-address', 'routed', 'tagged', 'link-local', 'neighbours'],
    judge: (answers, _, site) => [
      ...answers.flatMap(isolationFindings),
      ...answers.flatMap(nodeFindings),
      ...answers.flatMap((answer) => foreignNeighbours(answer, site)),
    ],
  },
]

function reachFindings({ pod, task, values }: Answer, _: number, all: readonly Answer[]): readonly Finding[] {
  const from = formatPodLocation(pod)
  if (task.kind === 'mtu') {
    const [has = 'unknown'] = values
    return has === String(task.planned) ? [] : [finding(interfaceMtu, { from, has, planned: task.planned })]
  }
  if (task.kind === 'gateway') {
    return values.length > 0 ? [] : [finding(gatewaySilent, { from, address: task.address, by: task.by })]
  }
  if (task.kind === 'route') {
    const { destination, nexthop } = task
    return values.length > 0 ? [] : [finding(podRouteMissing, { from, destination, nexthop })]
  }
  if (task.kind !== 'peer' || values.length > 0) return []
  const { address, by, peer } = task
  const to = formatPodLocation(peer)
  const answered = (other: 'ARP' | 'ping'): boolean =>
    all.some(
      (answer) =>
        answer.pod === pod &&
        answer.task.kind === 'peer' &&
        answer.task.by === other &&
        answer.task.address === address &&
        answer.values.length > 0,
    )
  // Report only the first failed test; the later ones fail for the same reason.
  if (by === 'ARP') return [finding(peerUnreachable, { from, to, address, by })]
  if (by === 'ping')
    return answered('ARP') || address.includes(':') ? [finding(peerUnreachable, { from, to, address, by })] : []
  const mtu = task.bytes + (address.includes(':') ? 48 : 28)
  return answered('ping') ? [finding(smallFramesOnly, { from, to, address, mtu })] : []
}

/** A pod cannot see VIPs of its own node, so one answer to a pod of any node is enough. */
function vipFindings(answers: readonly Answer[], cloud: string, { accounts }: ProbedSite): readonly Finding[] {
  const groups = groupBy(
    answers.filter(({ task }) => task.kind === 'vip'),
    ({ task }) => encodeTask(task),
  )
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    const nodes = new Set(group.map(({ pod }) => pod.node))
    const answered = group.some(({ values }) => values.length > 0)
    if (first?.task.kind !== 'vip' || answered || nodes.size < 2) return []
    const { slot, address, port, by } = first.task
    return by !== 'port'
      ? [finding(vipSilent, { cloud, slot, address, by, account: accounts.get(address) })]
      : [finding(vipClosed, { cloud, slot, address, port })]
  })
}

function duplicateFindings({ pod, task, values }: Answer): readonly Finding[] {
  const from = formatPodLocation(pod)
  if (task.kind === 'duplicate' && values.length > 0) {
    // The kernel does not report which machine has a duplicate address.
    const macs = `the pod itself, ${values.map((word) => (word === 'refused' ? 'another machine' : word)).join(', ')}`
    return [finding(answeredTwice, { from, address: task.address, owner: `the probe of ${from}`, macs })]
  }
  if (task.kind === 'dhcp') {
    const servers = values.filter((value) => value !== UNTESTED)
    return servers.length > 0 ? [finding(foreignDhcp, { from, servers })] : []
  }
  const isArp = (task.kind === 'peer' || task.kind === 'vip' || task.kind === 'gateway') && task.by === 'ARP'
  if (!isArp || values.length < 2) return []
  const owner = formatOwner(task)
  return [finding(answeredTwice, { from, address: task.address, owner, macs: values.join(', ') })]
}

/** The answer of an image without a DHCP client. */
const UNTESTED = 'untested'

function formatOwner(task: Extract<ProbeTask, { kind: 'peer' | 'vip' | 'gateway' }>): string {
  switch (task.kind) {
    case 'peer':
      return formatPodLocation(task.peer)
    case 'vip':
      return `the VIP of ${task.slot}`
    case 'gateway':
      return 'the gateway'
  }
}

function isolationFindings({ pod, task, values }: Answer): readonly Finding[] {
  const reached = values.length > 0 && values[0] !== 'elsewhere'
  if (task.kind !== 'foreign' || !reached) return []
  const { address, owner, by, port } = task
  const how = by === 'port' ? `port ${port}` : by
  const mac = by === 'ARP' ? values.join(', ') : ''
  return [finding(isolationBroken, { from: formatPodLocation(pod), by: how, address, owner, mac })]
}

/** The ways through nodes, which have an interface on the segments of all clouds. */
function nodeFindings({ pod, task, values }: Answer, _: number, all: readonly Answer[]): readonly Finding[] {
  const from = formatPodLocation(pod)
  if (values.length === 0) return []
  if (task.kind === 'node-address') {
    // On connected segments nodes answer like all other machines, and the connection is reported.
    if (all.some((answer) => answer.pod === pod && isolationFindings(answer).length > 0)) return []
    const { address, owner } = task
    return [finding(nodeAddressAnswers, { from, address, owner, mac: values.join(', ') })]
  }
  if (task.kind === 'tagged') return [finding(tagsPass, { from, vlan: task.vlan, owner: task.owner })]
  if (task.kind !== 'routed') return []
  const { address, owner, gateway } = task
  return [finding(routedThroughNode, { from, address, owner, gateway })]
}

/** Pods of another cloud that answered by IPv6 although they are planned on another segment. */
function foreignNeighbours({ pod, task, values }: Answer, { plan, linkLocalOwners }: ProbedSite): readonly Finding[] {
  if (task.kind !== 'neighbours') return []
  const here = findNetwork(plan, pod)
  return values.flatMap((address) => {
    const other = linkLocalOwners.get(address)
    const there = other && findNetwork(plan, other)
    if (!here || !there || other.cloud === pod.cloud || !areSeparateSegments(there, here)) return []
    const facts = {
      from: formatPodLocation(pod),
      by: 'IPv6 multicast',
      address,
      owner: formatPodLocation(other),
      mac: '',
    }
    return [finding(isolationBroken, facts)]
  })
}

function findNetwork({ clouds }: Plan, { cloud, network }: ProbePod): PlannedNetwork | undefined {
  return clouds.find(({ name }) => name === cloud)?.networks.find(({ name }) => name === network)
}
