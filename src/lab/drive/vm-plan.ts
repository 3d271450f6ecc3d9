/**
 * Decides what has to happen to each VM so that it matches its definition. Pure.
 *
 * CPUs, memory and a larger OS disk need a restart. Any other change replaces the VM and keeps its data disks.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Lab, LabNode } from '../lab.ts'
import { buildInstance } from '../lima/instance.ts'
import type { LimaState } from './lima-state.ts'
import type { DriveContext } from './stage.ts'

export type VmAction =
  | { readonly kind: 'create' | 'start' | 'keep'; readonly node: LabNode }
  | ({ readonly kind: 'resize' } & VmChange)
  | ({ readonly kind: 'replace' } & VmChange)

interface VmChange {
  readonly node: LabNode
  /** Fields of the definition that differ. */
  readonly fields: readonly string[]
  readonly running: boolean
}

const RESIZABLE = new Set(['cpus', 'memory'])

export function planVms({ lab, read }: Pick<DriveContext, 'lab' | 'read'>, lima: LimaState): readonly VmAction[] {
  const publicKey = (read('ssh/id_ed25519.pub') ?? '').trim()
  return lab.nodes.map((node) => planVm(lab, node, publicKey, lima))
}

function planVm(lab: Lab, node: LabNode, publicKey: string, lima: LimaState): VmAction {
  const instance = lima.instances.get(node.instance)
  if (!instance) return { kind: 'create', node }
  const running = instance.status === 'Running'
  const desired = toJson(buildInstance(lab, node, publicKey))
  const actual = toJson(instance.definition ?? {})
  const keys = new Set([...Object.keys(desired), ...Object.keys(actual)])
  const fields = [...keys].filter((key) => !isDeepStrictEqual(desired[key], actual[key]))
  if (fields.length === 0) return { kind: running ? 'keep' : 'start', node }
  const diskGrows = diskSize(desired) > diskSize(actual)
  const resizable = fields.every((field) => RESIZABLE.has(field) || (field === 'disk' && diskGrows))
  return { kind: resizable ? 'resize' : 'replace', node, fields, running }
}

type Definition = Readonly<Record<string, unknown>>

/** Drops undefined values, so that definitions compare by value. */
function toJson(definition: object): Definition {
  return JSON.parse(JSON.stringify(definition)) as Definition
}

function diskSize(definition: Definition): number {
  return Number.parseInt(String(definition['disk']), 10)
}
