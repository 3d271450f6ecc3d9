/** SL206x: writing a new site file, from answers or from an import. */
import { problem } from './finding.ts'

export const cancelled = problem<Record<never, never>>({
  code: 'SL2060',
  severity: 'info',
  message: () => 'you cancelled; nothing was written',
  remedy: () => 'run `stackloom init` again, or give the answers as options (`stackloom init --help`)',
})

export const fileExists = problem<{ file: string; option: string }>({
  code: 'SL2061',
  severity: 'error',
  message: ({ file }) => `${file} exists already; it was not touched`,
  remedy: ({ option }) => `choose another name with ${option}, or overwrite it with --overwrite`,
})

export const invalidAnswer = problem<{ option: string; given: string; expected: string }>({
  code: 'SL2062',
  severity: 'error',
  message: ({ option, given, expected }) => `${option}: ${JSON.stringify(given)} is not ${expected}`,
  remedy: ({ expected }) => `write ${expected}`,
})

export const cloudExists = problem<{ cloud: string; file: string }>({
  code: 'SL2063',
  severity: 'error',
  message: ({ cloud, file }) => `${file} has this cloud already: ${cloud} has the same name or namespace`,
  remedy: () => 'remove it from the file first, or import into a new file with --out',
})
