/**
 * Service options that hide in Ansible variables: `edpm_ovn_metadata_agent_metadata_agent_DEFAULT_debug` is
 * `[DEFAULT] debug`. They belong into customServiceConfig, where they are checked and win.
 *
 * Pure. Which variables exist is the roles' business; only the shape of the name counts here.
 */
import { type Finding, type FindingContext, finding } from '../errors/finding.ts'
import { hiddenOption } from './findings.ts'
import { optionKey } from './merge.ts'
import type { Assignment } from './parse.ts'
import { redactLine } from './redact-line.ts'
import type { IniOption } from './write.ts'

export interface HiddenOption extends IniOption {
  /** The Ansible variable. */
  readonly variable: string
}

// DEFAULT is the only section that cannot be mistaken for a part of another word; the others need a known file.
const SHAPES = [
  /^edpm_\w+?_(DEFAULT)_([a-z][a-z0-9_]*)$/,
  /^edpm_ovn_metadata_agent_metadata_agent_(agent|cache|ovn|ovs)_([a-z][a-z0-9_]*)$/,
]

/** The options among the variables, in their order. */
export function findHiddenOptions(variables: Readonly<Record<string, unknown>>): readonly HiddenOption[] {
  return Object.entries(variables).flatMap(([variable, value]) => {
    const match = SHAPES.map((shape) => shape.exec(variable)).find((one) => one !== null)
    const [, section, key] = match ?? []
    if (!section || !key || (typeof value === 'object' && value !== null)) return []
    return [{ variable, section, key, value: scalarText(value) }]
  })
}

function scalarText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A finding for each, with the lines that replace it; `snippet` is the customServiceConfig that goes with them. */
export function checkAnsibleVars(
  variables: Readonly<Record<string, unknown>>,
  snippet: readonly Assignment[],
  context: FindingContext = {},
): readonly Finding[] {
  return findHiddenOptions(variables).map(({ variable, section, key, value }) => {
    const id = optionKey(section, key)
    const winner = snippet.findLast((assignment) => optionKey(assignment.section, assignment.key) === id)
    const lines = `[${section}]\n${redactLine(`${key} = ${value}`)}`
    return finding(hiddenOption, { variable, lines, overriddenAt: winner?.line }, context)
  })
}
