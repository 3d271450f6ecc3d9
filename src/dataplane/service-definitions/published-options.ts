/**
 * Reads the configuration that an operator of the control plane publishes for nodes, as oslo.config would: `$$` is a dollar
 * sign, `$name` the value of another option. Pure.
 */
import { parseIni } from '../../ini/parse.ts'
import { expandReferences } from '../../ini/substitute.ts'

/** The last value of an option; of any section unless one is given. */
export type PublishedOptions = (key: string, section?: string) => string | undefined

export function readPublishedOptions(...files: readonly string[]): PublishedOptions {
  const assignments = files.flatMap((text) => parseIni(text).assignments)
  const find: (key: string, section?: string) => (typeof assignments)[number] | undefined = (key, section) =>
    assignments.findLast((found) => found.key === key && (section === undefined || found.section === section))
  return (key, section) => {
    const found = find(key, section)
    if (!found) return undefined
    const expanded = expandReferences(found.value, (name) => {
      const [option = '', group = 'DEFAULT'] = name.split('.').reverse()
      return find(option, group)?.value
    })
    // oslo.config refuses a reference to nothing; a password that was published as it is has one by accident.
    return expanded.kind === 'value' ? expanded.value : found.value
  }
}
