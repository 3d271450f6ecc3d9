/** Folds hosts of a node set that are in the same state, and puts a state into words. Pure. */
import { groupBy } from '../api/collections.ts'
import type { HostFailure } from './deployment-outcome.ts'
import { type HostChange, type HostState, type Verdict, verdicts } from './judge-hosts.ts'
import { compareNames } from './name-order.ts'

export interface HostGroup extends Omit<HostState, 'host'> {
  readonly hosts: readonly string[]
}

/** Groups of one node set stand together, the largest first. */
export function foldHosts(states: readonly HostState[]): readonly HostGroup[] {
  const nodeSets = groupBy(states, ({ namespace, nodeSet }) => `${namespace}/${nodeSet}`)
  return [...nodeSets.values()].flatMap((members) => {
    const groups = [...groupBy(members, formatWithoutHost).values()].map((alike): HostGroup => {
      const { host: _, ...state } = alike[0] as HostState
      return { ...state, hosts: alike.map(({ host }) => host) }
    })
    return groups.sort((a, b) => b.hosts.length - a.hosts.length || rank(a.verdict) - rank(b.verdict))
  })
}

function formatWithoutHost(state: HostState): string {
  return JSON.stringify({ ...state, host: undefined })
}

function rank(verdict: Verdict): number {
  return verdicts.indexOf(verdict)
}

/** Hosts and pods that still have the old value of a Secret: `compute-[0-3], pod galera-0`. */
export function formatHolders({
  outdatedHosts,
  outdatedPods,
}: {
  readonly outdatedHosts: readonly string[]
  readonly outdatedPods: readonly string[]
}): string {
  const holders = [formatHostNames(outdatedHosts), ...outdatedPods.map((pod) => `pod ${pod}`)]
  return holders.filter((holder) => holder !== '').join(', ')
}

/** `compute-[0-95], storage-0`: consecutive numbers as a range. */
export function formatHostNames(hosts: readonly string[]): string {
  const parts: { readonly stem: string; first: number | undefined; last: number; readonly name: string }[] = []
  for (const name of hosts.toSorted(compareNames)) {
    const [, stem = name, digits] = /^(.*?)(0|[1-9]\d*)$/.exec(name) ?? []
    const number = digits === undefined ? undefined : Number(digits)
    const previous = parts.at(-1)
    if (number !== undefined && previous?.stem === stem && previous.first !== undefined && previous.last + 1 === number)
      previous.last = number
    else parts.push({ stem, first: number, last: number ?? 0, name })
  }
  return parts
    .map(({ stem, first, last, name }) => (first === undefined || first === last ? name : `${stem}[${first}-${last}]`))
    .join(', ')
}

export const verdictNames: Readonly<Record<Verdict, string>> = {
  failed: 'failed',
  behind: 'behind',
  never: 'never deployed',
  unknown: 'unknown',
  running: 'running',
  current: 'current',
}

/** Why a host has its verdict; empty for a host that is current. */
export function explainState({ verdict, failures, changes, unknown }: Omit<HostState, 'host'>): string {
  const reasons = [
    ...failures.map(formatFailure),
    ...(verdict === 'failed' ? [] : changes.map(formatChange)),
    ...(verdict === 'unknown' ? unknown : []),
  ]
  return reasons.join('; ')
}

function formatFailure({ deployment, service, reason, message, task, cause: found }: HostFailure): string {
  const subject = service === undefined ? deployment : `${service} of ${deployment}`
  if (task !== undefined)
    return `${reason === 'unreachable' ? reason : 'failed'} in ${subject}, task "${task}": ${found}`
  if (reason === 'unreachable') return `unreachable in ${subject}`
  const cause = message === undefined ? '' : `: ${message}`
  return reason === 'failed' ? `failed in ${subject}${cause}` : `${subject} failed and names no hosts${cause}`
}

function formatChange({ kind, name = '', change = 'changed', services }: HostChange): string {
  const readers = `(${services.join(', ')})`
  switch (kind) {
    case 'never':
      return `${services.join(', ')} never ran`
    case 'spec':
      return 'the node set has changed'
    case 'machine':
      return 'machines were provisioned again'
    case 'service':
      return `service ${name} has changed`
    case 'image':
      return `image ${name} has changed ${readers}`
    case 'Secret':
    case 'ConfigMap':
      return `${kind} ${name} ${change === 'changed' ? 'has changed' : `was ${change}`} ${readers}`
  }
}

/** `96 alike, 4 differ` for the groups of one node set; undefined if all are alike. */
export function formatAlike(groups: readonly HostGroup[]): string | undefined {
  const [largest, ...others] = groups
  if (!largest || others.length === 0) return undefined
  return `${largest.hosts.length} alike, ${others.reduce((sum, { hosts }) => sum + hosts.length, 0)} differ`
}
