/**
 * What has to happen to a VM so that it is what its definition says. Pure.
 *
 * CPUs, memory and a larger OS disk: stop, change, start. Anything else: replaced, not patched; data disks stay.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Lab, LabNode } from '../lab.ts'
import { buildInstance } from '../lima/instance.ts'
import type { World } from './lima-state.ts'

export type VmAction =
  | { readonly kind: 'create' | 'start' | 'keep'; readonly node: LabNode }
  | {
      readonly kind: 'resize'
      readonly node: LabNode
      readonly fields: readonly string[]
      readonly running: boolean
    }
  | {
      readonly kind: 'replace'
      readonly node: LabNode
      readonly fields: readonly string[]
      readonly running: boolean
    }

const RESIZABLE = new Set(['cpus', 'memory'])

export function planVms(lab: Lab, publicKey: string, world: World): readonly VmAction[] {
  return lab.nodes.map((node) => planVm(node, buildInstance(lab, node, publicKey), world))
}

function planVm(node: LabNode, wanted: object, world: World): VmAction {
  const found = world.instances.get(node.instance)
  if (!found) return { kind: 'create', node }
  const running = found.status === 'Running'
  const fields = differingFields(wanted, found.definition)
  if (fields.length === 0) return { kind: running ? 'keep' : 'start', node }
  const harmless = fields.every(
    (field) => RESIZABLE.has(field) || (field === 'disk' && grows(wanted, found.definition)),
  )
  return { kind: harmless ? 'resize' : 'replace', node, fields, running }
}

/** Top-level fields that differ, by value: order and style of the text do not matter. */
function differingFields(wanted: object, have: unknown): readonly string[] {
  const [a, b] = [wanted, have ?? {}].map((one) => JSON.parse(JSON.stringify(one)) as Record<string, unknown>)
  const keys = new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})])
  return [...keys].filter((key) => !isDeepStrictEqual(a?.[key], b?.[key]))
}

function grows(wanted: object, have: unknown): boolean {
  const size = (one: unknown): number => Number.parseInt(String((one as { disk?: unknown } | null)?.disk), 10)
  return size(wanted) > size(have)
}
