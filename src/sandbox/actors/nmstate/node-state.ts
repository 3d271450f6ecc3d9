/**
 * What a node's network looks like after a desired state was taken: the merge that nmstate does, as far as the
 * product depends on it. Pure.
 *
 * An interface is merged field by field, a list (addresses, ports) is replaced as a whole, `absent` removes the
 * interface, and what a policy does not name stays. So a second policy that names the same interface with other
 * addresses takes those of the first away, as it does on a real node.
 */
import { isRecord } from '../../../api/json.ts'

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
    if (wanted.state === 'absent') interfaces.delete(wanted.name)
    else interfaces.set(wanted.name, mergeFields(interfaces.get(wanted.name) ?? {}, wanted) as Interface)
  }
  const { interfaces: _, ...sections } = desired
  return { ...before, ...sections, interfaces: [...interfaces.values()] }
}

function mergeFields(old: unknown, wanted: unknown): unknown {
  if (!isRecord(old) || !isRecord(wanted)) return wanted
  const keys = new Set([...Object.keys(old), ...Object.keys(wanted)])
  return Object.fromEntries(
    [...keys].map((key) => [key, key in wanted ? mergeFields(old[key], wanted[key]) : old[key]]),
  )
}
