/**
 * Computes the next enactments and conditions of a policy as in kubernetes-nmstate 0.86: at most `maxUnavailable` nodes at
 * once, five attempts, then failing, and pending nodes are aborted. Pure.
 */

import { isRecord } from '../../../api/json.ts'
import type { Condition } from '../../../api/object.ts'
import type { ConditionTuple } from '../actor-status.ts'

/** The progress of an enactment of the current generation. */
export type Progress =
  | { readonly kind: 'pending' }
  | { readonly kind: 'progressing' }
  | { readonly kind: 'retrying'; readonly attempts: number }
  | { readonly kind: 'available' }
  | { readonly kind: 'failing'; readonly message: string }
  | { readonly kind: 'aborted' }

export const ATTEMPTS = 5

export interface NodeProgress {
  readonly node: string
  /** Undefined without an enactment of this generation. */
  readonly before: Progress | undefined
  /** The error of applying the desired state, if any. */
  readonly failure: string | undefined
}

export function advanceNodes(nodes: readonly NodeProgress[], maxUnavailable: number): ReadonlyMap<string, Progress> {
  const failed = nodes.some(({ before }) => before?.kind === 'failing' || before?.kind === 'aborted')
  const busy = nodes.filter(({ before }) => isBusy(before)).length
  let free = maxUnavailable - busy
  return new Map(
    nodes.map(({ node, before, failure }) => {
      const waiting = before === undefined || before.kind === 'pending'
      if (!waiting) return [node, advance(before, failure)]
      if (failed) return [node, { kind: 'aborted' }]
      free -= 1
      return [node, free >= 0 ? { kind: 'progressing' } : { kind: 'pending' }]
    }),
  )
}

function isBusy(progress: Progress | undefined): boolean {
  return progress?.kind === 'progressing' || progress?.kind === 'retrying'
}

function advance(before: Progress, refusal: string | undefined): Progress {
  if (!isBusy(before)) return before
  if (refusal === undefined) return { kind: 'available' }
  const attempts = (before.kind === 'retrying' ? before.attempts : 0) + 1
  return attempts >= ATTEMPTS ? { kind: 'failing', message: refusal } : { kind: 'retrying', attempts }
}

export function isFinal(progress: Progress): boolean {
  return progress.kind === 'available' || progress.kind === 'failing' || progress.kind === 'aborted'
}

/** A percentage of the nodes, rounded up, or a number; at least one. */
export function unavailableLimit(maxUnavailable: string | number | undefined, nodes: number): number {
  const percent = /^(\d+)%$/.exec(String(maxUnavailable ?? '50%'))
  const limit = percent ? Math.ceil((nodes * Number(percent[1])) / 100) : Number(maxUnavailable)
  return Number.isFinite(limit) && limit >= 1 ? limit : 1
}

/** The conditions of an enactment, with the order and reasons of upstream. */
export function enactmentConditions(node: string, progress: Progress): readonly ConditionTuple[] {
  const types = ['Failing', 'Available', 'Progressing', 'Pending', 'Aborted'] as const
  const all = (
    reason: string,
    set: Readonly<Partial<Record<(typeof types)[number], readonly [Condition['status'], string?]>>>,
  ): readonly ConditionTuple[] =>
    types.map((type) => {
      const [status, message] = set[type] ?? ['False']
      return [type, status, reason, message]
    })
  switch (progress.kind) {
    case 'pending':
      return all('MaxUnavailableLimitReached', { Pending: ['True', 'Waiting for progressing nodes to finish'] })
    case 'progressing':
      return all('ConfigurationProgressing', {
        Failing: ['Unknown'],
        Available: ['Unknown'],
        Progressing: ['True', 'Applying desired state'],
      })
    case 'retrying': {
      const policy = 'failed to reconcile NodeNetworkConfigurationPolicy'
      const message = `${policy} on node ${node}. Retrying ${progress.attempts + 1}/${ATTEMPTS}`
      return all('Retrying', { Failing: ['True', message], Progressing: ['True', message] })
    }
    case 'available':
      return all('SuccessfullyConfigured', { Available: ['True', 'successfully reconciled'] })
    case 'failing':
      return all('FailedToConfigure', { Failing: ['True', progress.message] })
    case 'aborted': {
      const message = `reconciliation of enactment on node ${node} has aborted`
      return all('ConfigurationAborted', { Aborted: ['True', message] })
    }
  }
}

export function parseProgress(conditions: readonly Condition[], attempts: number): Progress | undefined {
  const found = (type: string): Condition | undefined =>
    conditions.find((condition) => condition.type === type && condition.status === 'True')
  if (found('Available')) return { kind: 'available' }
  if (found('Aborted')) return { kind: 'aborted' }
  if (found('Pending')) return { kind: 'pending' }
  if (found('Progressing')) return attempts > 0 ? { kind: 'retrying', attempts } : { kind: 'progressing' }
  const failing = found('Failing')
  return failing && { kind: 'failing', message: failing.message ?? '' }
}

/** The conditions of the policy, with the messages of upstream. */
export function policyConditions(after: readonly Progress[]): readonly ConditionTuple[] {
  const count = (kind: Progress['kind']): number => after.filter((progress) => progress.kind === kind).length
  const total = after.length
  const finished = after.filter(isFinal).length
  if (total === 0) {
    const reason = 'NoMatchingNode'
    return policyConditionSet(reason, { Ignored: ['True', 'Policy does not match any node'] })
  }
  if (count('failing') + count('aborted') > 0) {
    const aborted = count('aborted') ? `, ${count('aborted')} nodes aborted configuration` : ''
    const message = `${count('failing')}/${total} nodes failed to configure${aborted}`
    return policyConditionSet('FailedToConfigure', { Degraded: ['True', message] })
  }
  if (finished < total) {
    const message = `Policy is progressing ${finished}/${total} nodes finished`
    return policyConditionSet('ConfigurationProgressing', {
      Available: ['Unknown'],
      Degraded: ['Unknown'],
      Progressing: ['True', message],
    })
  }
  const message = `${count('available')}/${total} nodes successfully configured`
  return policyConditionSet('SuccessfullyConfigured', { Available: ['True', message] })
}

/** All four conditions have the same reason; clients rely on the first one. */
function policyConditionSet(
  reason: string,
  set: Readonly<Record<string, readonly [Condition['status'], string?]>>,
): readonly ConditionTuple[] {
  return ['Available', 'Degraded', 'Progressing', 'Ignored'].map((type) => {
    const [status, message] = set[type] ?? ['False' as const]
    return [type, status, reason, message]
  })
}

export interface Interface {
  readonly name: string
  readonly state?: string
  readonly [field: string]: unknown
}

export interface NetworkState {
  readonly interfaces?: readonly Interface[]
  readonly [section: string]: unknown
}

export function applyDesiredState(before: NetworkState, desired: NetworkState): NetworkState {
  const interfaces = new Map((before.interfaces ?? []).map((iface) => [iface.name, iface]))
  for (const wanted of desired.interfaces ?? []) {
    if (wanted.state === 'absent') removeWithChildren(interfaces, wanted.name)
    else {
      for (const port of listPorts(wanted)) releasePort(interfaces, port)
      interfaces.set(wanted.name, mergeFields(interfaces.get(wanted.name) ?? {}, wanted) as Interface)
    }
  }
  const { interfaces: _, ...sections } = desired
  const lists = ['routes', 'route-rules'].flatMap((section) => {
    const entries = mergeEntries(listEntries(before[section]), listEntries(desired[section]))
    const config = entries.filter(({ 'next-hop-interface': via }) => typeof via !== 'string' || interfaces.has(via))
    return config.length > 0 || section in before ? [[section, { config }] as const] : []
  })
  return { ...before, ...sections, ...Object.fromEntries(lists), interfaces: [...interfaces.values()] }
}

/** Of a bridge or bond. */
export function listPorts({ bridge, 'link-aggregation': bond }: Interface): readonly string[] {
  const bridged = isRecord(bridge) && Array.isArray(bridge['port']) ? bridge['port'].filter(isRecord) : []
  const bonded = isRecord(bond) && Array.isArray(bond['port']) ? bond['port'] : []
  return [...bridged.map(({ name }) => String(name)), ...bonded.map(String)]
}

/** A port that another bridge or bond is given leaves the former one. */
function releasePort(interfaces: Map<string, Interface>, port: string): void {
  for (const holder of interfaces.values()) {
    if (!listPorts(holder).includes(port)) continue
    const { bridge, 'link-aggregation': bond } = holder
    const without = (section: unknown): unknown =>
      isRecord(section) && Array.isArray(section['port'])
        ? { ...section, port: section['port'].filter((entry) => (isRecord(entry) ? entry['name'] : entry) !== port) }
        : section
    interfaces.set(holder.name, {
      ...holder,
      ...(bridge !== undefined && { bridge: without(bridge) }),
      ...(bond !== undefined && { 'link-aggregation': without(bond) }),
    })
  }
}

type Entry = Readonly<Record<string, unknown>>

function listEntries(section: unknown): readonly Entry[] {
  const config = isRecord(section) ? section['config'] : undefined
  return Array.isArray(config) ? config.filter(isRecord) : []
}

/** Routes and rules are added to those of the node; an absent one removes every entry that has its fields. */
function mergeEntries(before: readonly Entry[], desired: readonly Entry[]): readonly Entry[] {
  let entries = before
  for (const { state, ...fields } of desired) {
    const others = entries.filter((entry) => Object.entries(fields).some(([field, value]) => entry[field] !== value))
    entries = state === 'absent' ? others : [...others, fields]
  }
  return entries
}

/** A VLAN goes with the interface below it, unless that is a NIC, which stays. */
function removeWithChildren(interfaces: Map<string, Interface>, name: string): void {
  const removed = interfaces.get(name)
  interfaces.delete(name)
  if (removed?.['type'] === 'ethernet') return
  for (const child of interfaces.values()) {
    if (isRecord(child['vlan']) && child['vlan']['base-iface'] === name) removeWithChildren(interfaces, child.name)
  }
}

function mergeFields(old: unknown, wanted: unknown): unknown {
  // A family that is switched off loses its addresses.
  if (!isRecord(old) || !isRecord(wanted) || wanted['enabled'] === false) return wanted
  const keys = new Set([...Object.keys(old), ...Object.keys(wanted)])
  return Object.fromEntries(
    [...keys].map((key) => [key, key in wanted ? mergeFields(old[key], wanted[key]) : old[key]]),
  )
}
