/** SL70xx: configuration snippets for OpenStack services (`customServiceConfig`), read as oslo.config reads them. */
import { problem } from '../errors/finding.ts'

export const iniSyntax = problem<{ line: number; reason: string; text: string }>({
  code: 'SL7001',
  severity: 'error',
  message: ({ line, reason, text }) => `line ${line}: ${reason}: ${JSON.stringify(text)}`,
  remedy: () => 'write `[section]` lines and `option = value` lines, each at the start of its line',
})

export const indentedIni = problem<{ line: number; text: string }>({
  code: 'SL7002',
  severity: 'error',
  message: ({ line, text }) =>
    `line ${line}: an indented line continues the value above it, and there is none: ${JSON.stringify(text)}`,
  remedy: () => 'move every line to the left margin (in YAML use `|`, and indent all lines of the block alike)',
})

export const ignoredSection = problem<{ line: number; section: string; meant: string }>({
  code: 'SL7003',
  severity: 'warning',
  message: ({ line, section }) =>
    `line ${line}: no service reads the section [${section}]; its options are silently ignored`,
  remedy: ({ meant }) => `write [${meant}]`,
})

export const ignoredOption = problem<{ line: number; key: string; meant: string }>({
  code: 'SL7004',
  severity: 'warning',
  message: ({ line, key }) =>
    `line ${line}: no service has an option with the name ${JSON.stringify(key)}; the line is ignored`,
  remedy: ({ meant }) => `write \`${meant} = …\``,
})

export const unknownReference = problem<{ line: number; option: string; name: string }>({
  code: 'SL7005',
  severity: 'warning',
  message: ({ line, option, name }) =>
    `line ${line}: \`$${name}\` in ${option} refers to the option ${name}, which is not set here`,
  remedy: ({ name }) => `write \`$$${name}\` if the dollar sign is meant literally; otherwise check the name`,
})

export const inlineComment = problem<{ line: number; option: string; value: string }>({
  code: 'SL7006',
  severity: 'warning',
  message: ({ line, option, value }) => `line ${line}: the value of ${option} is ${JSON.stringify(value)}`,
  remedy: () => 'put the comment on a separate line, at the left margin',
})

export const swallowedLine = problem<{ line: number; option: string; text: string }>({
  code: 'SL7007',
  severity: 'warning',
  message: ({ line, option, text }) =>
    `line ${line}: ${JSON.stringify(text)} is read as the next line of the value of ${option}`,
  remedy: () => 'move the line to the left margin if it is meant as an option or a section',
})

export const strayQuote = problem<{ line: number; option: string; value: string }>({
  code: 'SL7008',
  severity: 'warning',
  message: ({ line, option, value }) => `line ${line}: the value of ${option} is ${value}, with its quotes`,
  remedy: () => 'quote the whole value, or none of it',
})

export const repeatedOption = problem<{ line: number; option: string; before: number }>({
  code: 'SL7009',
  severity: 'info',
  message: ({ line, option, before }) => `line ${line}: ${option} is already set on line ${before}; this one wins`,
  remedy: () => 'remove one of the two',
})

export const bindingOverride = problem<{ line: number; option: string; why: string }>({
  code: 'SL7010',
  severity: 'error',
  message: ({ line, option, why }) => `line ${line}: ${option} must not be set here: ${why}`,
  remedy: () => 'remove the line; change the object that the generated value comes from',
})

export const credentialOverride = problem<{ line: number; option: string; why: string }>({
  code: 'SL7011',
  severity: 'warning',
  message: ({ line, option, why }) => `line ${line}: ${option} overrides the generated value: ${why}`,
  remedy: () => 'remove the line, unless you intend to update this value manually',
})

export const unwritableOption = problem<{ section: string; key: string; reason: string }>({
  code: 'SL7012',
  severity: 'error',
  message: ({ section, key, reason }) => `[${section}] ${key} cannot be written: ${reason}`,
  remedy: () => 'change the value at its source; in a Secret, look for an unintended line break',
})

export const hiddenOption = problem<{ variable: string; lines: string; overriddenAt: number | undefined }>({
  code: 'SL7013',
  severity: 'warning',
  message: ({ variable, overriddenAt }) =>
    overriddenAt === undefined
      ? `the Ansible variable ${variable} sets a service option outside customServiceConfig`
      : `the Ansible variable ${variable} has no effect: line ${overriddenAt} of customServiceConfig sets the same option`,
  remedy: ({ lines, overriddenAt }) =>
    overriddenAt === undefined
      ? `remove it and write into customServiceConfig:\n${lines.replace(/^/gm, '          ')}`
      : 'remove the variable',
})
