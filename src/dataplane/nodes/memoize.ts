/**
 * What follows from what holds for a node, and from its addresses, is worked out once: nodes are looked at often, and
 * seldom change.
 */
import type { EffectiveNode } from '../rules/inheritance.ts'
import type { HostVars } from './inventory.ts'

interface Known {
  readonly effective: EffectiveNode
  readonly addresses: HostVars
}

export function memoizeByNode<V extends Known, T>(make: (view: V) => T): (view: V) => T {
  const made = new WeakMap<EffectiveNode, { readonly addresses: HostVars; readonly value: T }>()
  return (view) => {
    const { effective, addresses } = view
    const known = made.get(effective)
    if (known?.addresses === addresses) return known.value
    const value = make(view)
    made.set(effective, { addresses, value })
    return value
  }
}
