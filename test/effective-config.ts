/** Resolves a service's configuration files as oslo.config does, for tests of generated files. */
import { expect } from 'vitest'
import type { ConfigFiles } from '../src/dataplane/service-definitions/config-files.ts'
import { effectiveValues, mergeIni } from '../src/ini/merge.ts'
import { parseIni } from '../src/ini/parse.ts'
import { expandReferences } from '../src/ini/substitute.ts'

/** Effective values by `section.key`. */
export function effectiveConfig(made: ConfigFiles): Readonly<Record<string, string>> {
  if (made.kind === 'refused') throw new Error('refused')
  const read = Object.entries(made.files)
    .filter(([name]) => /^\d\d-.*\.conf$/.test(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, text]) => {
      const { assignments, errors } = parseIni(text)
      expect(errors).toEqual([])
      return { file, assignments }
    })
  return Object.fromEntries(
    mergeIni(read).map((option) => {
      const value = effectiveValues(option)[0]?.value ?? ''
      const expanded = expandReferences(value, () => undefined)
      return [`${option.section}.${option.key}`, expanded.kind === 'value' ? expanded.value : value]
    }),
  )
}
