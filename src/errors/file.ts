/** SL101x to SL103x: files that users write. Not text, not YAML, or not of the expected shape. */
import { problem } from './finding.ts'

export const notUtf8 = problem<{ byte: number }>({
  code: 'SL1010',
  severity: 'error',
  message: ({ byte }) => `byte ${byte} of this file is not valid UTF-8`,
  remedy: () => 'save the file as UTF-8, without a byte order mark of UTF-16',
})

export const controlCharacter = problem<{ code: string }>({
  code: 'SL1011',
  severity: 'error',
  message: ({ code }) => `the control character ${code} is not allowed in YAML`,
  remedy: () => 'remove it; inside double quotes it can be written as an escape such as \\x1b',
})

export const notYaml = problem<{ reason: string }>({
  code: 'SL1012',
  severity: 'error',
  message: ({ reason }) => `this is not YAML: ${reason}`,
  remedy: () => 'correct the text here; indent with spaces, and close brackets and quotes',
})

export const duplicateKey = problem<{ key: string }>({
  code: 'SL1013',
  severity: 'error',
  message: ({ key }) => `the key ${key} is already in this mapping`,
  remedy: ({ key }) => `keep one ${key}`,
})

export const unknownAlias = problem<{ alias: string }>({
  code: 'SL1014',
  severity: 'error',
  message: ({ alias }) => `no anchor &${alias} is defined before the alias *${alias}`,
  remedy: ({ alias }) => `put &${alias} on the intended value, above this line`,
})

export const tooLarge = problem<{ reason: string }>({
  code: 'SL1015',
  severity: 'error',
  message: ({ reason }) => `this file is rejected: ${reason}`,
  remedy: () => 'write the values out, or nest them less deeply',
})

export const emptyFile = problem<{ wanted: string }>({
  code: 'SL1016',
  severity: 'error',
  message: ({ wanted }) => `this file is empty; expected ${wanted}`,
  remedy: () => 'name the intended file, or write one with `stackloom init`',
})

export const unknownField = problem<{
  field: string
  parent: string
  nearest: string | undefined
  known: readonly string[]
}>({
  code: 'SL1020',
  severity: 'error',
  message: ({ field, parent, nearest }) =>
    `${parent} has no field ${field}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ field, nearest, known }) =>
    nearest ? `write ${nearest}, or remove ${field}` : `known here: ${known.join(', ')}`,
})

export const reservedKey = problem<{ key: string; parent: string }>({
  code: 'SL1037',
  severity: 'error',
  message: ({ key, parent }) => `${parent} has the key ${key}, which no file can use`,
  remedy: ({ key }) => `remove ${key}, or choose another name`,
})

export const placeholdersInFile = problem<{ places: readonly string[] }>({
  code: 'SL1048',
  severity: 'error',
  message: ({ places }) =>
    places.length === 1
      ? `${places[0]} is a placeholder`
      : `${places.length} values are placeholders: ${places.join(', ')}`,
  remedy: () => 'fill them in, or remove the fields that the planner may choose',
})

export const missingField = problem<{ field: string; parent: string; expected: string }>({
  code: 'SL1021',
  severity: 'error',
  message: ({ field, parent }) => `${parent} needs the field ${field}`,
  remedy: ({ field, expected }) => `add the field ${field} (${expected})`,
})

export const wrongType = problem<{ field: string; expected: string; found: string }>({
  code: 'SL1022',
  severity: 'error',
  message: ({ field, expected, found }) => `${field}: expected ${expected}, found ${found}`,
  remedy: ({ expected }) => `write ${expected} here`,
})

export const wrongValue = problem<{ field: string; found: string; expected: string }>({
  code: 'SL1023',
  severity: 'error',
  message: ({ field, found, expected }) => `${field}: ${found} is not allowed; expected ${expected}`,
  remedy: ({ expected }) => `write ${expected}`,
})
