/**
 * What a service on a node is configured with: every option, its value, and which file and line said so.
 *
 * Pure. Files are read in the order of their names, as oslo.config reads a folder; credentials are never shown.
 */
import type { HiddenOption } from '../../ini/ansible-vars.ts'
import { effectiveValues, type MergedOption, mergeIni, type Origin, optionKey } from '../../ini/merge.ts'
import { parseIni } from '../../ini/parse.ts'
import { redactLine } from '../../ini/redact-line.ts'
import { expandReferences } from '../../ini/substitute.ts'
import type { Files } from '../service-definitions/config-files.ts'

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
export function explainConfig(files: Files, hidden: readonly HiddenOption[] = []): readonly ExplainedOption[] {
  const read = Object.entries(files)
    .filter(([name]) => /^\d\d-.*\.conf$/.test(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, text]) => ({ file, assignments: parseIni(text).assignments }))
  const merged = mergeIni(read)
  const lookup = createLookup(merged)
  const inFiles = merged.map((mergedOption): ExplainedOption => {
    const holding = effectiveValues(mergedOption)
    const explain = ({ file, line, value }: Origin): ExplainedValue => ({
      value: redactSecret(mergedOption.key, expandValue(value, lookup)),
      from: `${file}:${line}`,
    })
    return {
      section: mergedOption.section,
      option: mergedOption.key,
      values: holding.map(explain),
      overridden: mergedOption.origins.filter((origin) => !holding.includes(origin)).map(explain),
    }
  })
  return hidden.reduce(addHiddenOption, inFiles)
}

function addHiddenOption(options: readonly ExplainedOption[], one: HiddenOption): readonly ExplainedOption[] {
  const id = optionKey(one.section, one.key)
  const said = { value: redactSecret(one.key, one.value), from: `ansibleVars: ${one.variable}` }
  const known = options.find(({ section, option }) => optionKey(section, option) === id)
  if (!known) {
    return [...options, { section: one.section, option: one.key, values: [said], overridden: [] }]
  }
  const told = { ...known, overridden: [said, ...known.overridden] }
  return options.map((option) => (option === known ? told : option))
}

type Lookup = (name: string) => string | undefined

/** `$name` means an option of DEFAULT, `$group.name` one of a group. */
function createLookup(merged: readonly MergedOption[]): Lookup {
  const values = new Map(
    merged.map((mergedOption) => [
      `${mergedOption.section}.${mergedOption.key}`,
      effectiveValues(mergedOption).at(-1)?.value ?? '',
    ]),
  )
  return (name) => values.get(name.includes('.') ? name : `DEFAULT.${name}`)
}

function expandValue(value: string, lookup: Lookup): string {
  const result = expandReferences(value, lookup)
  // What oslo.config itself fails on is shown as it was written.
  return result.kind === 'value' ? result.value : value
}

function redactSecret(key: string, value: string): string {
  return redactLine(`${key} = ${value}`).slice(key.length + 3)
}
