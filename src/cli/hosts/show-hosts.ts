/** Implements `stackloom hosts`: one line per group of hosts in the same state, or every host with `-o wide`. */
import pc from 'picocolors'
import { groupBy } from '../../api/collections.ts'
import type { KubeObject } from '../../api/object.ts'
import { formatGroupKind, indexSnapshot, type Snapshot } from '../../api/snapshot.ts'
import type { ExitCode } from '../../errors/failure.ts'
import { groupCauses } from '../../hosts/ansible-output.ts'
import { deploymentKind } from '../../hosts/data-plane.ts'
import { explainState, foldHosts, formatAlike, formatHostNames, verdictNames } from '../../hosts/fold-hosts.ts'
import type { HostState, Verdict } from '../../hosts/judge-hosts.ts'
import { isSelected } from '../../hosts/plan-host-deployments.ts'
import { addCauses, failedRuns } from '../../hosts/run-logs.ts'
import type { ClusterFlags } from '../cluster.ts'
import type { CloudFlags } from '../deployment.ts'
import type { FleetFlags } from '../fleet/fleet-option.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { oneLine } from '../output/text.ts'
import { type CloudNames, createCloudNames, selectNamespaces } from './cloud-names.ts'
import type { GatheredHosts } from './gather-hosts.ts'

export interface ShowOptions extends ClusterFlags, CloudFlags, FleetFlags {
  readonly behind?: boolean
  readonly failed?: boolean
  readonly from?: string
}

export async function showHosts(options: ShowOptions, io: Io): Promise<ExitCode> {
  const { gathered, cloudNames } = await gather(options, io)
  const { findings, snapshot } = gathered
  const selected = selectNamespaces(gathered.states, cloudNames, options)
  const states = filterStates(gathered.states, options).filter(({ namespace }) => selected.has(namespace))
  printFindings(findings, io)
  const { output } = options
  io.stdout(
    output === 'json' || output === 'yaml'
      ? await serialiseResult({ hosts: states.map((state) => hostJson(state, cloudNames)) }, output, findings)
      : formatHosts(states, cloudNames, output === 'wide', io),
  )
  if (states.some(({ verdict }) => verdict === 'failed')) return 1
  return snapshot.unread.some(({ cause }) => cause !== 'not-served' && cause !== 'not-dumped') ? 3 : 0
}

async function gather(
  options: ShowOptions,
  io: Io,
): Promise<{ readonly gathered: GatheredHosts; readonly cloudNames: CloudNames }> {
  const { gatherDumpedHosts, gatherLiveHosts } = await import('./gather-hosts.ts')
  if (options.from !== undefined) {
    const { parseInventories } = await import('../../deploy/deployment-status.ts')
    const gathered = await gatherDumpedHosts(options.from, io)
    const states = addCauses(gathered.states, [], listDeployments(gathered.snapshot))
    return { gathered: { ...gathered, states }, cloudNames: createCloudNames(parseInventories(gathered.snapshot)) }
  }
  const { openCluster } = await import('../cluster.ts')
  const { readKnownInventories } = await import('./cloud-names.ts')
  const { readRunLogs } = await import('./read-run-logs.ts')
  const connection = await openCluster(options, io)
  try {
    const inventories = await readKnownInventories(connection.client)
    const gathered = await gatherLiveHosts(connection.client, io.stop)
    const logs = await readRunLogs(connection, failedRuns(gathered.states), io.stop)
    const states = addCauses(gathered.states, logs, listDeployments(gathered.snapshot))
    return { gathered: { ...gathered, states }, cloudNames: createCloudNames(inventories) }
  } finally {
    await connection.close()
  }
}

function listDeployments(snapshot: Snapshot): readonly KubeObject[] {
  return indexSnapshot(snapshot).all(formatGroupKind(deploymentKind))
}

function filterStates(
  states: readonly HostState[],
  { behind = false, failed = false }: ShowOptions,
): readonly HostState[] {
  if (!behind && !failed) return states
  return states.filter(({ verdict }) => isSelected({ behind, failed }, verdict))
}

function hostJson({ namespace, ...state }: HostState, cloudNames: CloudNames): object {
  return { cloud: cloudNames(namespace), namespace, ...state }
}

function formatHosts(states: readonly HostState[], cloudNames: CloudNames, wide: boolean, io: Io): string {
  if (states.length === 0) return 'no hosts\n'
  return wide ? formatEveryHost(states, cloudNames, io) : formatGroups(states, cloudNames, io)
}

function formatGroups(states: readonly HostState[], cloudNames: CloudNames, io: Io): string {
  const groups = foldHosts(states)
  const rows = groups.map(({ namespace, nodeSet, hosts, verdict, deployment = '-', ...state }) => [
    cloudNames(namespace),
    nodeSet,
    `${hosts.length}`,
    formatVerdict(verdict, io),
    deployment,
    oneLine(`${formatHostNames(hosts)}${joinReason(explainState({ ...state, namespace, nodeSet, verdict }))}`),
  ])
  const header = ['CLOUD', 'NODE SET', 'COUNT', 'VERDICT', 'DEPLOYMENT', 'HOSTS']
  const differing = [...groupBy(groups, ({ namespace, nodeSet }) => `${cloudNames(namespace)}/${nodeSet}`)]
    .flatMap(([name, members]) => {
      const alike = formatAlike(members)
      return alike === undefined ? [] : [`${name}: ${alike}\n`]
    })
    .join('')
  const table = formatTable(header, rows, Number.POSITIVE_INFINITY, io.colour.stdout)
  return [table, differing, formatCauses(states, cloudNames)].filter((part) => part !== '').join('\n')
}

/** Causes that several hosts share, over node sets and clouds. */
function formatCauses(states: readonly HostState[], cloudNames: CloudNames): string {
  const failures = states.flatMap(({ namespace, host, failures: found }) =>
    found.flatMap(({ task, cause }) =>
      task === undefined || cause === undefined ? [] : [{ host, task, cause, cloud: cloudNames(namespace) }],
    ),
  )
  return groupCauses(failures)
    .filter(({ length }) => length > 1)
    .map((group) => {
      const clouds = [...new Set(group.map(({ cloud }) => cloud))].join(', ')
      const [{ task, cause } = { task: '', cause: '' }] = group
      return oneLine(`${group.length} hosts in ${clouds} failed in task "${task}": ${cause}`) + '\n'
    })
    .join('')
}

const joinReason = (reason: string): string => (reason === '' ? '' : `: ${reason}`)

const HASH_LENGTH = 8

function formatEveryHost(states: readonly HostState[], cloudNames: CloudNames, io: Io): string {
  const header = [
    'CLOUD',
    'NODE SET',
    'HOST',
    'VERDICT',
    'DECLARED',
    'DEPLOYED',
    'DEPLOYMENT',
    'LIMIT',
    'SERVICES',
    'WHY',
  ]
  const rows = states.map((state) => [
    cloudNames(state.namespace),
    state.nodeSet,
    state.host,
    formatVerdict(state.verdict, io),
    state.declared?.slice(0, HASH_LENGTH) ?? '-',
    state.deployed?.slice(0, HASH_LENGTH) ?? '-',
    state.deployment ?? '-',
    state.limit ?? '-',
    state.services.join(','),
    oneLine(explainState(state)),
  ])
  return formatTable(header, rows, Number.POSITIVE_INFINITY, io.colour.stdout)
}

function formatVerdict(verdict: Verdict, io: Io): string {
  const { green, red, yellow, cyan } = pc.createColors(io.colour.stdout)
  const colour = { current: green, failed: red, behind: yellow, never: yellow, unknown: yellow, running: cyan }[verdict]
  return colour(verdictNames[verdict])
}
