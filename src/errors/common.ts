/** SL10xx: problems that any command can report. */
import { problem } from './finding.ts'

export const internalError = problem<{ reason: string }>({
  code: 'SL1000',
  severity: 'error',
  title: 'Stackloom has a bug',
  message: ({ reason }) => `an unexpected error occurred: ${reason}`,
  remedy: () => 'run the command again with --debug and report its output',
  description: `Every expected problem has its own code. This one is a bug of Stackloom, not an error in your input.
\`--debug\` prints the stack trace that a bug report needs.`,
  example: { reason: 'stages is not iterable' },
})

export const wrongUse = problem<{ reason: string; command: string }>({
  code: 'SL1001',
  severity: 'error',
  title: 'The command line is invalid',
  message: ({ reason }) => reason,
  remedy: ({ command }) => `see \`${command} --help\``,
  description: `An option is unknown, misspelt, has no value, or contradicts another one. Nothing was done.`,
  example: { reason: "unknown option '--lokced' (did you mean --locked?)", command: 'stackloom plan' },
})

export const unreadableFile = problem<{ file: string; reason: string; madeBy?: string }>({
  code: 'SL1002',
  severity: 'error',
  title: 'A file cannot be read',
  message: ({ file, reason }) => `cannot read ${file}: ${reason}`,
  remedy: ({ file, madeBy }) =>
    `check that ${file} exists and that you may read it${madeBy ? `, or create one with \`${madeBy}\`` : ''}`,
  description: `The file named on the command line, or a file that it refers to, is missing or not readable for you.`,
  example: { file: 'site.yaml', reason: 'no such file or directory', madeBy: 'stackloom init' },
})

export const unwritableFile = problem<{ file: string; reason: string }>({
  code: 'SL1003',
  severity: 'error',
  title: 'A file cannot be written',
  message: ({ file, reason }) => `cannot write ${file}: ${reason}`,
  remedy: () => 'check the free space and your permissions; the previous file is unchanged',
  description: `A file is written under a temporary name and then renamed, so a full disk or a crash leaves the old file
complete. Free some space or choose another folder, and run the command again.`,
  example: { file: 'site.lock.yaml', reason: 'no space left on device' },
})

export const unknownCode = problem<{ code: string; nearest: string | undefined }>({
  code: 'SL1004',
  severity: 'error',
  title: 'There is no finding with this code',
  message: ({ code, nearest }) => `no finding has the code ${code}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: () => 'list all codes with `stackloom explain`',
  description: `\`stackloom explain CODE\` knows the codes of this version only. A code from a newer version may be missing.`,
  example: { code: 'SL2999', nearest: 'SL2099' },
})
