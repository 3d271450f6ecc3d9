/** Builds the hosts: equal hosts folded, one cell per service, certificates, deployments, and IPSets that wait. Pure. */

import { groupBy } from '../../api/collections.ts'
import { readDeployment } from '../../hosts/data-plane.ts'
import {
  explainState,
  foldHosts,
  formatAlike,
  formatHolders,
  formatHostNames,
  type HostGroup,
} from '../../hosts/fold-hosts.ts'
import { formatCount } from '../../verify/checks/check-definition.ts'
import type { HostsDocument, NodeSetLine, HostGroup as ShownGroup } from '../documents/hosts.ts'
import { commandLine, type ViewInput } from './view-input.ts'

type Body<T> = Omit<T, 'version' | 'notes'>

/** Older deployments are in the cluster, too; a page needs the last ones. */
const MAX_DEPLOYMENTS = 200
const MAX_CERTIFICATES = 500

/** `use`: the use of subnets over time, which only a running console knows. */
export function buildHosts(input: ViewInput, use: HostsDocument['use'] = []): Body<HostsDocument> {
  const { hosts, cloudName } = input
  const command = commandLine('hosts', ...input.clusterOptions)
  const nothing = { nodeSets: [], certificates: [], deployments: [], waiting: [], use }
  if (!hosts) return { command, ...nothing, summary: 'not read' }
  const { states, certificates, deployments, subnets } = hosts
  const nodeSets = [...groupBy(foldHosts(states), ({ namespace, nodeSet }) => `${namespace}/${nodeSet}`).entries()].map(
    ([id, groups]) => buildNodeSet(id, groups, cloudName),
  )
  return {
    command,
    nodeSets,
    certificates: certificates.slice(0, MAX_CERTIFICATES).map(({ namespace, kind, name, verdict, ...state }) => ({
      id: `${namespace}/${kind}/${name}`,
      cloud: cloudName(namespace),
      name,
      verdict,
      ...(state.daysLeft !== undefined && { daysLeft: state.daysLeft }),
      ...(state.notAfter !== undefined && { notAfter: state.notAfter }),
      olderCopyIn: formatHolders(state),
    })),
    deployments: deployments
      .map(readDeployment)
      .toSorted((a, b) => (a.created < b.created ? 1 : -1))
      .slice(0, MAX_DEPLOYMENTS)
      .map(({ namespace, name, nodeSets: selected, isDeployed, error, created }) => ({
        id: `${namespace}/${name}`,
        cloud: cloudName(namespace),
        namespace,
        name,
        nodeSets: selected,
        state: isDeployed ? 'succeeded' : error === undefined ? 'running' : 'failed',
        ...(created !== '' && { createdAt: created }),
        ...(error !== undefined && { reason: error }),
      })),
    waiting: subnets.flatMap(({ namespace, network, waiting }) =>
      waiting.map(({ owner, why }) => ({
        id: `${owner} ${network}`,
        cloud: cloudName(namespace),
        network,
        owner,
        why,
      })),
    ),
    use,
    summary: summarize(input),
  }
}

function buildNodeSet(id: string, groups: readonly HostGroup[], cloudName: ViewInput['cloudName']): NodeSetLine {
  const [first] = groups
  const { namespace = '', nodeSet = '' } = first ?? {}
  const services = [...new Set(groups.flatMap((group) => group.services))]
  const alike = formatAlike(groups)
  return {
    id,
    cloud: cloudName(namespace),
    namespace,
    name: nodeSet,
    total: groups.reduce((sum, { hosts }) => sum + hosts.length, 0),
    ...(alike !== undefined && { alike }),
    services,
    groups: groups.map((group) => buildGroup(id, group)),
  }
}

function buildGroup(nodeSet: string, group: HostGroup): ShownGroup {
  const { hosts, verdict, deployment, limit } = group
  return {
    id: `${nodeSet}/${hosts[0]}`,
    label: formatHostNames(hosts),
    hosts,
    verdict,
    reason: explainState(group),
    ...(deployment !== undefined && { deployment }),
    ...(limit !== undefined && { limit }),
    cells: group.services.map((service) => ({ id: service, ...judgeCell(group, service) })),
  }
}

type Cell = Omit<ShownGroup['cells'][number], 'id'>

/** A failure without a service may be of any. */
function judgeCell({ verdict, failures, changes, unknown }: HostGroup, service: string): Cell {
  const failure = failures.find((found) => found.service === service || found.service === undefined)
  if (failure) {
    const reason = failure.cause ?? failure.message ?? `failed in ${failure.deployment}`
    return { state: failure.reason === 'unreachable' ? 'unreachable' : 'failed', reason }
  }
  const change = changes.find(({ services }) => services.includes(service))
  if (change?.kind === 'never') return { state: 'never', reason: 'it never ran on these hosts' }
  if (change) {
    const reason = change.name === undefined ? 'the node set has changed' : `${change.kind} ${change.name} has changed`
    return { state: 'behind', reason }
  }
  if (verdict === 'never') return { state: 'never' }
  if (verdict === 'running') return { state: 'running' }
  if (verdict === 'unknown' && unknown.length > 0) return { state: 'unknown', reason: unknown.join('; ') }
  return { state: 'current' }
}

function summarize({ hosts }: ViewInput): string {
  const states = hosts?.states ?? []
  if (states.length === 0) return 'no hosts'
  const counts = [...groupBy(states, ({ verdict }) => verdict)].map(([verdict, list]) => `${list.length} ${verdict}`)
  return `${formatCount(states.length, 'host')}: ${counts.join(', ')}`
}
