/**
 * Explains the configuration of a service on a node: every option, its value, and the file and line that set it.
 *
 * Pure. Files are read in the order of their names, as oslo.config does; credentials are redacted.
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
  /** Several for an option that may occur more than once. */
  readonly values: readonly ExplainedValue[]
  /** Values of earlier files that have no effect any more. */
  readonly overridden: readonly ExplainedValue[]
}

/** `hidden` are options that Ansible variables set; the files win over them. */
export function explainConfig(files: Files, hidden: readonly HiddenOption[] = []): readonly ExplainedOption[] {
  const read = Object.entries(files)
    .filter(([name]) => /^\d\d-.*\.conf$/.test(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, text]) => ({ file, assignments: parseIni(text).assignments }))
  const merged = mergeIni(read)
  const lookup = createLookup(merged)
  const inFiles = merged.map((mergedOption): ExplainedOption => {
    const effective = effectiveValues(mergedOption)
    const explain = ({ file, line, value }: Origin): ExplainedValue => ({
      value: redactSecret(mergedOption.key, expandValue(value, lookup)),
      from: `${file}:${line}`,
    })
    return {
      section: mergedOption.section,
      option: mergedOption.key,
      values: effective.map(explain),
      overridden: mergedOption.origins.filter((origin) => !effective.includes(origin)).map(explain),
    }
  })
  return hidden.reduce(addHiddenOption, inFiles)
}

function addHiddenOption(options: readonly ExplainedOption[], hidden: HiddenOption): readonly ExplainedOption[] {
  const key = optionKey(hidden.section, hidden.key)
  const explained = { value: redactSecret(hidden.key, hidden.value), from: `ansibleVars: ${hidden.variable}` }
  const known = options.find(({ section, option }) => optionKey(section, option) === key)
  if (!known) {
    return [...options, { section: hidden.section, option: hidden.key, values: [explained], overridden: [] }]
  }
  const updated = { ...known, overridden: [explained, ...known.overridden] }
  return options.map((option) => (option === known ? updated : option))
}

type Lookup = (name: string) => string | undefined

/** `$name` refers to an option of DEFAULT, `$group.name` to one of a group. */
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
  // A value that oslo.config cannot expand is shown as written.
  return result.kind === 'value' ? result.value : value
}

function redactSecret(key: string, value: string): string {
  return redactLine(`${key} = ${value}`).slice(key.length + 3)
}
