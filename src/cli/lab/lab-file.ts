/** What every lab command begins with: the lab file, read and judged, and the folder of its tree. */
import path from 'node:path'
import type { Command } from 'commander'
import { Failure } from '../../errors/failure.ts'
import { type Finding, hasErrors } from '../../errors/finding.ts'
import type { Lab } from '../../lab/lab.ts'
import { readLab } from '../../lab/read-lab.ts'
import { readInput } from '../files.ts'
import type { Io } from '../io.ts'

export interface LabOptions {
  readonly file: string
  readonly out?: string
}

export interface OpenedLab {
  readonly lab: Lab
  readonly findings: readonly Finding[]
  /** Absolute. */
  readonly folder: string
  /** As the user would write it. */
  readonly displayFolder: string
}

export function labOptions(command: Command): Command {
  return command
    .option('-f, --file <file>', 'the lab file, - for stdin', 'lab.yaml')
    .option('--out <folder>', "the folder of the rendered tree; the lab's name, beside the file, by default")
}

/** Exit 2 for a file that is no Lab; a Lab with errors in it is the caller's to refuse. */
export async function openLab(options: LabOptions, io: Io): Promise<OpenedLab> {
  const { lab, findings } = readLab(await readInput(options.file, io, 'stackloom lab init'), options.file)
  if (!lab) throw new Failure(findings, 2)
  const beside = options.file === '-' ? '.' : path.dirname(options.file)
  const shownFolder = options.out ?? path.join(beside, lab.name)
  return { lab, findings, folder: path.resolve(io.cwd, shownFolder), displayFolder: shownFolder }
}

/** For commands that act: errors end here, with exit 1 and nothing done. */
export async function openValidLab(options: LabOptions, io: Io): Promise<OpenedLab> {
  const opened = await openLab(options, io)
  if (hasErrors(opened.findings)) throw new Failure(opened.findings, 1)
  return opened
}
