/** Labs for tests: document 004's, with changes. */
import { parse, stringify } from 'yaml'
import type { Lab } from '../src/lab/lab.ts'
import { type PresetAnswers, presetText, standardAnswers } from '../src/lab/presets.ts'
import { type LabReading, readLab } from '../src/lab/read.ts'
import { rsaSshKey } from '../src/lab/ssh-keys.ts'

type Tree = Record<string, unknown>

export function labText(answers: Partial<PresetAnswers> = {}): string {
  return presetText({ ...standardAnswers, ...answers })
}

/** Document 004's file with values set or removed, by path: `{ 'spec.vips.internal': '…' }`. */
export function changedText(
  changes: Readonly<Record<string, unknown>>,
  answers: Partial<PresetAnswers> = {},
): string {
  const file = parse(labText(answers)) as Tree
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.split('.')
    const last = steps.pop() as string
    const parent = steps.reduce<Tree>((here, step) => (here[step] ??= {}) as Tree, file)
    if (value === undefined) delete parent[last]
    else parent[last] = value
  }
  return stringify(file)
}

export function changedLab(
  changes: Readonly<Record<string, unknown>>,
  answers: Partial<PresetAnswers> = {},
): LabReading {
  return readLab(changedText(changes, answers), 'lab.yaml')
}

export function labWith(
  changes: Readonly<Record<string, unknown>> = {},
  answers: Partial<PresetAnswers> = {},
): Lab {
  const { lab, findings } = changedLab(changes, answers)
  if (!lab) throw new Error(findings.map((one) => one.message).join('\n'))
  return lab
}

/** Four thousand bits take seconds on a busy machine; nothing here depends on their number. */
export const smallSshKey = () => rsaSshKey(1024)
