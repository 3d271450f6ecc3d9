/**
 * Finds service options in Ansible variables: `edpm_ovn_metadata_agent_metadata_agent_DEFAULT_debug` is
 * `[DEFAULT] debug`. They belong in customServiceConfig, where they are checked and win.
 *
 * Pure. Must not know which variables the roles have: only the form of the name counts.
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

// Only DEFAULT cannot be part of another word; the other sections need a known file.
const SHAPES = [
  /^edpm_\w+?_(DEFAULT)_([a-z][a-z0-9_]*)$/,
  /^edpm_ovn_metadata_agent_metadata_agent_(agent|cache|ovn|ovs)_([a-z][a-z0-9_]*)$/,
]

/** The options among the variables, in order. */
export function findHiddenOptions(variables: Readonly<Record<string, unknown>>): readonly HiddenOption[] {
  return Object.entries(variables).flatMap(([variable, value]) => {
    const match = SHAPES.map((shape) => shape.exec(variable)).find((result) => result !== null)
    const [, section, key] = match ?? []
    if (!section || !key || (typeof value === 'object' && value !== null)) return []
    return [{ variable, section, key, value: scalarText(value) }]
  })
}

function scalarText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** One finding per option, with the lines that replace it; `snippet` is the customServiceConfig beside them. */
export function checkAnsibleVars(
  variables: Readonly<Record<string, unknown>>,
  snippet: readonly Assignment[],
  context: FindingContext = {},
): readonly Finding[] {
  return findHiddenOptions(variables).map(({ variable, section, key, value }) => {
    const id = optionKey(section, key)
    const overriding = snippet.findLast((assignment) => optionKey(assignment.section, assignment.key) === id)
    const lines = `[${section}]\n${redactLine(`${key} = ${value}`)}`
    return finding(hiddenOption, { variable, lines, overriddenAt: overriding?.line }, context)
  })
}
