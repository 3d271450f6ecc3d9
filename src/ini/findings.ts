/** SL70xx: configuration snippets for OpenStack services (`customServiceConfig`), read as oslo.config reads them. */
import { problem } from '../errors/finding.ts'

export const iniSyntax = problem<{ line: number; reason: string; text: string }>({
  code: 'SL7001',
  severity: 'error',
  title: 'oslo.config rejects this configuration',
  message: ({ line, reason, text }) => `line ${line}: ${reason}: ${JSON.stringify(text)}`,
  remedy: () => 'write `[section]` lines and `option = value` lines, each at the start of its line',
  description: `OpenStack services read their files with oslo.config. It stops at the first line that it cannot parse, and the
service does not start. That happens on the node, after the deployment has reported success, so Stackloom parses the text by
the same rules before anything is deployed.`,
  example: { line: 3, reason: 'there is no `=` or `:` in this line', text: 'debug true' },
})

export const indentedIni = problem<{ line: number; text: string }>({
  code: 'SL7002',
  severity: 'error',
  title: 'The configuration is indented',
  message: ({ line, text }) =>
    `line ${line}: an indented line continues the value above it, and there is none: ${JSON.stringify(text)}`,
  remedy: () => 'move every line to the left margin (in YAML use `|`, and indent all lines of the block alike)',
  description: `For oslo.config a line that begins with a space or a tab continues the value above. A snippet whose lines are all
indented therefore does not parse: "Unexpected continuation line". The same happens to an indented line after a comment or
an empty line, because both end a value.`,
  example: { line: 1, text: '  [DEFAULT]' },
})

export const ignoredSection = problem<{ line: number; section: string; meant: string }>({
  code: 'SL7003',
  severity: 'warning',
  title: 'A section that no service reads',
  message: ({ line, section }) =>
    `line ${line}: no service reads the section [${section}]; its options are silently ignored`,
  remedy: ({ meant }) => `write [${meant}]`,
  description: `Section names are not case sensitive, with one exception: DEFAULT must be written in capitals. \`[default]\` is an
ordinary section that no service reads. Spaces inside the brackets are part of the name. In both cases the file is accepted
and the options have no effect.`,
  example: { line: 1, section: 'default', meant: 'DEFAULT' },
})

export const ignoredOption = problem<{ line: number; key: string; meant: string }>({
  code: 'SL7004',
  severity: 'warning',
  title: 'An option name that no service reads',
  message: ({ line, key }) =>
    `line ${line}: no service has an option with the name ${JSON.stringify(key)}; the line is ignored`,
  remedy: ({ meant }) => `write \`${meant} = …\``,
  description: `Option names are case sensitive and consist of lower-case letters, digits, \`_\`, \`-\` and \`.\`. oslo.config
accepts any other name too, but no service reads it: \`Debug = True\` changes nothing.`,
  example: { line: 2, key: 'Debug', meant: 'debug' },
})

export const unknownReference = problem<{ line: number; option: string; name: string }>({
  code: 'SL7005',
  severity: 'warning',
  title: 'A dollar sign in a value refers to another option',
  message: ({ line, option, name }) =>
    `line ${line}: \`$${name}\` in ${option} refers to the option ${name}, which is not set here`,
  remedy: ({ name }) => `write \`$$${name}\` if the dollar sign is meant literally; otherwise check the name`,
  description: `oslo.config replaces \`$name\`, \`\${name}\` and \`\${group.name}\` by the value of that option. If the service has
no such option, it fails when it reads the value, often long after its start. Passwords and patterns with a dollar sign
break this way. \`$$\` is one literal dollar sign.`,
  example: { line: 4, option: '[DEFAULT] transport_url', name: 'ecret' },
})

export const inlineComment = problem<{ line: number; option: string; value: string }>({
  code: 'SL7006',
  severity: 'warning',
  title: 'A comment became part of a value',
  message: ({ line, option, value }) => `line ${line}: the value of ${option} is ${JSON.stringify(value)}`,
  remedy: () => 'put the comment on a separate line, at the left margin',
  description: `oslo.config recognises comments only where \`#\` or \`;\` is the first character of a line. After a value they
belong to the value, and an indented comment continues the value above it.`,
  example: { line: 2, option: '[DEFAULT] debug', value: 'true # for now' },
})

export const swallowedLine = problem<{ line: number; option: string; text: string }>({
  code: 'SL7007',
  severity: 'warning',
  title: 'An indented line became part of the value above it',
  message: ({ line, option, text }) =>
    `line ${line}: ${JSON.stringify(text)} is read as the next line of the value of ${option}`,
  remedy: () => 'move the line to the left margin if it is meant as an option or a section',
  description: `A line that begins with a space continues the value above it. If the line looks like an option or a section
header it was probably meant as one: the option above gets a wrong value, and this one is not set at all.`,
  example: { line: 3, option: '[libvirt] virt_type', text: 'cpu_mode = none' },
})

export const strayQuote = problem<{ line: number; option: string; value: string }>({
  code: 'SL7008',
  severity: 'warning',
  title: 'A quote that does not enclose its value',
  message: ({ line, option, value }) => `line ${line}: the value of ${option} is ${value}, with its quotes`,
  remedy: () => 'quote the whole value, or none of it',
  description: `oslo.config removes one pair of equal quotes around a whole value, and only there. A quote at one end, or two quoted
words, are kept; of a value that continues on the next line only the first line is unquoted.`,
  example: { line: 2, option: '[DEFAULT] log_dir', value: '"/var/log' },
})

export const repeatedOption = problem<{ line: number; option: string; before: number }>({
  code: 'SL7009',
  severity: 'info',
  title: 'An option is set twice',
  message: ({ line, option, before }) => `line ${line}: ${option} is already set on line ${before}; this one wins`,
  remedy: () => 'remove one of the two',
  description: `The last value of an ordinary option counts. Only multi-valued options, such as \`[pci] alias\`, may be repeated;
their values add up.`,
  example: { line: 7, option: '[DEFAULT] debug', before: 2 },
})

export const bindingOverride = problem<{ line: number; option: string; why: string }>({
  code: 'SL7010',
  severity: 'error',
  title: 'An option that binds the service to its cloud is overridden',
  message: ({ line, option, why }) => `line ${line}: ${option} must not be set here: ${why}`,
  remedy: () => 'remove the line; change the object that the generated value comes from',
  description: `Some values decide to which cell, host name or database a service belongs. They are generated from the control
plane. An override silently removes a node from its cell: the checks that protect the cell do not see it, and the node's old
records stay where they were.`,
  example: {
    line: 2,
    option: '[DEFAULT] transport_url',
    why: 'the message bus binds a compute node to its cell',
  },
})

export const credentialOverride = problem<{ line: number; option: string; why: string }>({
  code: 'SL7011',
  severity: 'warning',
  title: 'A generated setting is overridden',
  message: ({ line, option, why }) => `line ${line}: ${option} overrides the generated value: ${why}`,
  remedy: () => 'remove the line, unless you intend to update this value manually',
  description: `The generated file has this option, with a value from the control plane's objects and Secrets. The value here wins,
stays when the generated value changes (a rotated password), and can be read with the object.`,
  example: {
    line: 5,
    option: '[keystone_authtoken] password',
    why: 'it stays when the password is rotated, and is stored in clear text',
  },
})

export const unwritableOption = problem<{ section: string; key: string; reason: string }>({
  code: 'SL7012',
  severity: 'error',
  title: 'A value cannot be written to a configuration file',
  message: ({ section, key, reason }) => `[${section}] ${key} cannot be written: ${reason}`,
  remedy: () => 'change the value at its source; in a Secret, look for an unintended line break',
  description: `The format of oslo.config cannot express some texts, such as a value with an empty line in it. Writing something
similar would give the service a different value, so nothing is written. The usual cause is a Secret that was created from a
file with a trailing line break.`,
  example: { section: 'DEFAULT', key: 'transport_url', reason: 'a value cannot contain a carriage return' },
})

export const hiddenOption = problem<{ variable: string; lines: string; overriddenAt: number | undefined }>({
  code: 'SL7013',
  severity: 'warning',
  title: 'A service option is set by an Ansible variable',
  message: ({ variable, overriddenAt }) =>
    overriddenAt === undefined
      ? `the Ansible variable ${variable} sets a service option outside customServiceConfig`
      : `the Ansible variable ${variable} has no effect: line ${overriddenAt} of customServiceConfig sets the same option`,
  remedy: ({ lines, overriddenAt }) =>
    overriddenAt === undefined
      ? `remove it and write into customServiceConfig:\n${lines.replace(/^/gm, '          ')}`
      : 'remove the variable',
  description: `Some Ansible roles take service options as variables whose names consist of file, section and option. They work, but
are not visible beside the service's configuration and are not checked. customServiceConfig is the place for such options;
where both set one, customServiceConfig wins.`,
  example: {
    variable: 'edpm_ovn_metadata_agent_metadata_agent_DEFAULT_debug',
    lines: '[DEFAULT]\ndebug = true',
    overriddenAt: undefined,
  },
})
