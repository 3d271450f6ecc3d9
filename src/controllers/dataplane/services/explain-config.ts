/**
 * What a service on a node is configured with: every option, its value, and which file and line said so.
 *
 * Pure. Files are read in the order of their names, as oslo.config reads a folder; credentials are never shown.
 */
import type { HiddenOption } from '../../../ini/ansible-vars.ts'
import { effectiveValues, type MergedOption, mergeIni, type Origin, optionId } from '../../../ini/merge.ts'
import { parseIni } from '../../../ini/parse.ts'
import { shown } from '../../../ini/redact.ts'
import { expand } from '../../../ini/substitute.ts'
import type { Files } from '../../../node-services/config-files.ts'

export interface ExplainedValue {
  readonly value: string
  /** `02-nova-override.conf:3` */
  readonly from: string
}

export interface ExplainedOption {
  readonly section: string
  readonly option: string
  /** More than one for an option that adds up. */
  readonly values: readonly ExplainedValue[]
  /** What earlier files said, and what does not hold any more. */
  readonly overridden: readonly ExplainedValue[]
}

/** `hidden` are options that Ansible variables set behind the back of the files: what a file says wins over them. */
export function explainConfig(
  files: Files,
  hidden: readonly HiddenOption[] = [],
): readonly ExplainedOption[] {
  const read = Object.entries(files)
    .filter(([name]) => /^\d\d-.*\.conf$/.test(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, text]) => ({ file, assignments: parseIni(text).assignments }))
  const merged = mergeIni(read)
  const lookup = lookupIn(merged)
  const inFiles = merged.map((one): ExplainedOption => {
    const holding = effectiveValues(one)
    const explain = ({ file, line, value }: Origin): ExplainedValue => ({
      value: withoutSecret(one.key, expanded(value, lookup)),
      from: `${file}:${line}`,
    })
    return {
      section: one.section,
      option: one.key,
      values: holding.map(explain),
      overridden: one.origins.filter((origin) => !holding.includes(origin)).map(explain),
    }
  })
  return hidden.reduce(withHidden, inFiles)
}

function withHidden(options: readonly ExplainedOption[], one: HiddenOption): readonly ExplainedOption[] {
  const id = optionId(one.section, one.key)
  const said = { value: withoutSecret(one.key, one.value), from: `ansibleVars: ${one.variable}` }
  const known = options.find(({ section, option }) => optionId(section, option) === id)
  if (!known) {
    return [...options, { section: one.section, option: one.key, values: [said], overridden: [] }]
  }
  const told = { ...known, overridden: [said, ...known.overridden] }
  return options.map((option) => (option === known ? told : option))
}

type Lookup = (name: string) => string | undefined

/** `$name` means an option of DEFAULT, `$group.name` one of a group. */
function lookupIn(merged: readonly MergedOption[]): Lookup {
  const values = new Map(
    merged.map((one) => [`${one.section}.${one.key}`, effectiveValues(one).at(-1)?.value ?? '']),
  )
  return (name) => values.get(name.includes('.') ? name : `DEFAULT.${name}`)
}

function expanded(value: string, lookup: Lookup): string {
  const result = expand(value, lookup)
  // What oslo.config itself fails on is shown as it was written.
  return result.kind === 'value' ? result.value : value
}

function withoutSecret(key: string, value: string): string {
  return shown(`${key} = ${value}`).slice(key.length + 3)
}
