/** SL10xx: problems that any command can report. */
import { problem } from './finding.ts'

export const internalError = problem<{ reason: string }>({
  code: 'SL1000',
  severity: 'error',
  message: ({ reason }) => `an unexpected error occurred: ${reason}`,
  remedy: () => 'run the command again with --debug and report its output',
})

export const wrongUse = problem<{ reason: string; command: string }>({
  code: 'SL1001',
  severity: 'error',
  message: ({ reason }) => reason,
  remedy: ({ command }) => `see \`${command} --help\``,
})

export const unreadableFile = problem<{ file: string; reason: string; madeBy?: string }>({
  code: 'SL1002',
  severity: 'error',
  message: ({ file, reason }) => `cannot read ${file}: ${reason}`,
  remedy: ({ file, madeBy }) =>
    `check that ${file} exists and that you may read it${madeBy ? `, or create one with \`${madeBy}\`` : ''}`,
})

export const unwritableFile = problem<{ file: string; reason: string }>({
  code: 'SL1003',
  severity: 'error',
  message: ({ file, reason }) => `cannot write ${file}: ${reason}`,
  remedy: () => 'check the free space and your permissions; the previous file is unchanged',
})

export const unknownCode = problem<{ code: string; nearest: string | undefined }>({
  code: 'SL1004',
  severity: 'error',
  message: ({ code, nearest }) => `no finding has the code ${code}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: () => 'list all codes with `stackloom explain`',
})

export const noFindingWithWords = problem<{ words: string }>({
  code: 'SL1049',
  severity: 'error',
  message: ({ words }) => `no finding has ${JSON.stringify(words)} in its title or description`,
  remedy: () => 'try one word alone, or list all codes with `stackloom explain`',
})

export const pathLeavesFolder = problem<{ file: string; folder: string }>({
  code: 'SL1005',
  severity: 'error',
  message: ({ file, folder }) =>
    `${JSON.stringify(file)} is not below ${folder}: it is outside, or behind a symbolic link`,
  remedy: ({ file }) =>
    `replace the symbolic link in ${file} by a folder or a file, or choose another folder with --out`,
})

export const outputLost = problem<{ reason: string }>({
  code: 'SL1006',
  severity: 'error',
  message: ({ reason }) => `the output is incomplete: ${reason}`,
  remedy: () => 'free some space, or write to another place, and run the command again',
})

export const inputTooLarge = problem<{ file: string; limitMiB: number }>({
  code: 'SL1007',
  severity: 'error',
  message: ({ file, limitMiB }) => `${file} has more than ${limitMiB} MiB`,
  remedy: ({ file }) => `check that ${file} is the intended file`,
})

export const objectInTheWay = problem<{ kind: string; namespace: string; name: string; owner: string }>({
  code: 'SL1030',
  severity: 'error',
  message: ({ kind, namespace, name, owner }) => `${kind} ${namespace}/${name} exists already, and ${owner}`,
  remedy: ({ kind, namespace, name }) =>
    `delete it if it is not needed (\`kubectl -n ${namespace} delete ${kind.toLowerCase()} ${name}\`), or rename the object that needs the name`,
})

export const tracesNotSent = problem<{ reason: string }>({
  code: 'SL1075',
  severity: 'warning',
  message: ({ reason }) => `the traces of this run are not sent: ${reason}`,
  remedy: () =>
    'set OTEL_EXPORTER_OTLP_ENDPOINT to a collector that accepts OTLP over HTTP, such as http://localhost:4318, or unset it',
})
