/** SL101x to SL103x: files that users write. Not text, not YAML, or not of the expected shape. */
import { problem } from './finding.ts'

export const notUtf8 = problem<{ byte: number }>({
  code: 'SL1010',
  severity: 'error',
  title: 'A file is not UTF-8 text',
  message: ({ byte }) => `byte ${byte} of this file is not valid UTF-8`,
  remedy: () => 'save the file as UTF-8, without a byte order mark of UTF-16',
  description: `YAML is Unicode text, and Stackloom reads it as UTF-8. Editors on some systems save UTF-16 or Latin-1;
\`file NAME\` shows the encoding, \`iconv -t utf-8\` converts to UTF-8.`,
  example: { byte: 17 },
})

export const controlCharacter = problem<{ code: string }>({
  code: 'SL1011',
  severity: 'error',
  title: 'A file contains a control character',
  message: ({ code }) => `the control character ${code} is not allowed in YAML`,
  remedy: () => 'remove it; inside double quotes it can be written as an escape such as \\x1b',
  description: `Control characters other than tab and line break are not part of YAML. They come from copied terminal
output or from a damaged file, and other parsers reject them too.`,
  example: { code: 'U+001B' },
})

export const notYaml = problem<{ reason: string }>({
  code: 'SL1012',
  severity: 'error',
  title: 'A file is not YAML',
  message: ({ reason }) => `this is not YAML: ${reason}`,
  remedy: () => 'correct the text here; indent with spaces, and close brackets and quotes',
  description: `The file cannot be parsed as YAML 1.2. The location is where the parser noticed, which may be after the error:
an unclosed quote or bracket, a tab in the indentation, a key at a different column.`,
  example: { reason: 'tabs are not allowed as indentation' },
})

export const duplicateKey = problem<{ key: string }>({
  code: 'SL1013',
  severity: 'error',
  title: 'A key occurs twice in one mapping',
  message: ({ key }) => `the key ${key} is already in this mapping`,
  remedy: ({ key }) => `keep one ${key}`,
  description: `Parsers differ in which of two equal keys they use, so the file is ambiguous. Often a block was pasted below an
existing one.`,
  example: { key: 'internalapi' },
})

export const unknownAlias = problem<{ alias: string }>({
  code: 'SL1014',
  severity: 'error',
  title: 'An alias has no anchor',
  message: ({ alias }) => `no anchor &${alias} is defined before the alias *${alias}`,
  remedy: ({ alias }) => `put &${alias} on the intended value, above this line`,
  description: `\`*name\` repeats the value that \`&name\` marks. The anchor must come first in the file.`,
  example: { alias: 'internalapi' },
})

export const tooLarge = problem<{ reason: string }>({
  code: 'SL1015',
  severity: 'error',
  title: 'A file expands too much when it is read',
  message: ({ reason }) => `this file is rejected: ${reason}`,
  remedy: () => 'write the values out, or nest them less deeply',
  description: `Aliases of aliases can make a few lines expand to billions of values, and brackets can be nested until a parser
runs out of memory. No site needs either, so such a file is rejected.`,
  example: { reason: 'its aliases expand to more than a million values' },
})

export const emptyFile = problem<{ wanted: string }>({
  code: 'SL1016',
  severity: 'error',
  title: 'A file is empty',
  message: ({ wanted }) => `this file is empty; expected ${wanted}`,
  remedy: () => 'name the intended file, or write one with `stackloom init`',
  description: `The file has no content, or only comments. The output of a failed command in a pipe looks the same.`,
  example: { wanted: 'a Site' },
})

export const unknownField = problem<{
  field: string
  parent: string
  nearest: string | undefined
  known: readonly string[]
}>({
  code: 'SL1020',
  severity: 'error',
  title: 'A field is unknown',
  message: ({ field, parent, nearest }) =>
    `${parent} has no field ${field}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ field, nearest, known }) =>
    nearest ? `write ${nearest}, or remove ${field}` : `known here: ${known.join(', ')}`,
  description: `Unknown fields are rejected, because a misspelt field would silently do nothing. The closest known name is suggested;
\`stackloom schema\` prints all fields.`,
  example: {
    field: 'namspace',
    parent: 'spec.clouds[0]',
    nearest: 'namespace',
    known: ['name', 'namespace'],
  },
})

export const missingField = problem<{ field: string; parent: string; expected: string }>({
  code: 'SL1021',
  severity: 'error',
  title: 'A required field is missing',
  message: ({ field, parent }) => `${parent} needs the field ${field}`,
  remedy: ({ field, expected }) => `add the field ${field} (${expected})`,
  description: `Most fields have a default; the few without one are required. The location is that of the mapping without the
field.`,
  example: { field: 'namespace', parent: 'spec.clouds[0]', expected: 'text' },
})

export const wrongType = problem<{ field: string; expected: string; found: string }>({
  code: 'SL1022',
  severity: 'error',
  title: 'A value is of the wrong type',
  message: ({ field, expected, found }) => `${field}: expected ${expected}, found ${found}`,
  remedy: ({ expected }) => `write ${expected} here`,
  description: `The field takes another type of value. In YAML a number in quotes is text, and \`no\`, \`on\` and \`yes\` are
text too.`,
  example: {
    field: 'spec.clouds[0].networks.internalapi.vlan',
    expected: 'a number',
    found: 'the text "20"',
  },
})

export const wrongValue = problem<{ field: string; found: string; expected: string }>({
  code: 'SL1023',
  severity: 'error',
  title: 'A value is not allowed',
  message: ({ field, found, expected }) => `${field}: ${found} is not allowed; expected ${expected}`,
  remedy: ({ expected }) => `write ${expected}`,
  description: `The field takes one of a few words, a text that is not empty, or a number within limits.`,
  example: {
    field: 'spec.addressing.isolation',
    found: 'the text "vlan"',
    expected: 'one of vlan-per-cloud, shared-vlan',
  },
})
