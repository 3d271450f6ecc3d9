/** SL206x: writing a new site file, from answers or from an import. */
import { problem } from './finding.ts'

export const cancelled = problem<Record<never, never>>({
  code: 'SL2060',
  severity: 'info',
  title: 'The questions were cancelled',
  message: () => 'you cancelled; nothing was written',
  remedy: () => 'run `stackloom init` again, or give the answers as options (`stackloom init --help`)',
  description: `\`stackloom init\` asks a few questions when it runs in a terminal. Ctrl-C ends it; no file has been touched.`,
  example: {},
})

export const fileExists = problem<{ file: string }>({
  code: 'SL2061',
  severity: 'error',
  title: 'The file exists already',
  message: ({ file }) => `${file} exists already; it was not touched`,
  remedy: () => 'choose another name with -f, or overwrite it with --force',
  description: `Commands that write a new site file replace an existing one only with --force.`,
  example: { file: 'site.yaml' },
})

export const invalidAnswer = problem<{ option: string; given: string; expected: string }>({
  code: 'SL2062',
  severity: 'error',
  title: 'An answer cannot be used',
  message: ({ option, given, expected }) => `${option}: ${JSON.stringify(given)} is not ${expected}`,
  remedy: ({ expected }) => `write ${expected}`,
  description: `What is given to \`stackloom init\` goes into the site file, so it follows the same rules.`,
  example: { option: '--node', given: 'worker-0', expected: 'a node and its NIC, such as worker-0=enp6s0' },
})

export const cloudExists = problem<{ cloud: string; file: string }>({
  code: 'SL2063',
  severity: 'error',
  title: 'The file has this cloud already',
  message: ({ cloud, file }) => `${file} has a cloud with the name or the namespace ${cloud} already`,
  remedy: () => 'remove it from the file first, or import into a new file with --out',
  description: `\`stackloom import --into FILE\` adds clouds to a site file and leaves everything else in it as it is, comments
included. It never changes a cloud that is there: which of the two is right only its owner knows.`,
  example: { cloud: 'openstack', file: 'site.yaml' },
})
