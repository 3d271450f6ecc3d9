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

export const pathLeavesFolder = problem<{ file: string; folder: string }>({
  code: 'SL1005',
  severity: 'error',
  title: 'A path leaves the folder that is written',
  message: ({ file, folder }) =>
    `${JSON.stringify(file)} is not below ${folder}: it is outside, or behind a symbolic link`,
  remedy: ({ file }) =>
    `replace the symbolic link in ${file} by a folder or a file, or choose another folder with --out`,
  description: `Commands that write a tree of files write, read and remove only below its folder. A tree that comes from
elsewhere, such as a clone, may contain symbolic links or a list of files that point to other places. The folder itself may
be a symbolic link. Nothing was written.`,
  example: { file: 'clouds/rhoso1/control-plane.yaml', folder: 'tree' },
})

export const outputLost = problem<{ reason: string }>({
  code: 'SL1006',
  severity: 'error',
  title: 'The output could not be written',
  message: ({ reason }) => `the output is incomplete: ${reason}`,
  remedy: () => 'free some space, or write to another place, and run the command again',
  description: `Standard output was redirected to a file or device that does not take all of it, such as a full disk. What was
written there is not complete and must not be used. A reader that closes its pipe early, such as \`head\`, is no failure.`,
  example: { reason: 'ENOSPC: no space left on device, write' },
})

export const inputTooLarge = problem<{ file: string; limitMiB: number }>({
  code: 'SL1007',
  severity: 'error',
  title: 'An input is too large',
  message: ({ file, limitMiB }) => `${file} has more than ${limitMiB} MiB`,
  remedy: ({ file }) => `check that ${file} is the intended file`,
  description: `Input is read into memory as a whole. A site file with a thousand clouds has a few MiB, so a larger input is
a wrong file, a device, or a program that never stops writing.`,
  example: { file: '/dev/zero', limitMiB: 64 },
})
