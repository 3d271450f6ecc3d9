/** Reads and checks the lab file for all lab commands, and resolves the folder of its tree. */
import path from 'node:path'
import type { Command } from 'commander'
import { Failure } from '../../errors/failure.ts'
import { type Finding, hasErrors } from '../../errors/finding.ts'
import type { Lab } from '../../lab/lab.ts'
import { readLab } from '../../lab/read-lab.ts'
import { readInput } from '../files.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'

export interface LabOptions {
  readonly file: string
  readonly out?: string
}

export interface OpenedLab {
  readonly lab: Lab
  readonly findings: readonly Finding[]
  /** Absolute. */
  readonly folder: string
  /** As shown to the user: relative unless an absolute path was given. */
  readonly displayFolder: string
}

export function labOptions(command: Command): Command {
  return command
    .option('-f, --file <file>', 'lab file, - for stdin', 'lab.yaml')
    .option('--out <dir>', 'folder of the rendered tree (default: the name of the lab, beside the file)')
}

/** Throws with exit code 2 when the file is not a Lab. The caller decides about a Lab with errors. */
export async function openLab(options: LabOptions, io: Io): Promise<OpenedLab> {
  const { lab, findings } = readLab(await readInput(options.file, io, 'stackloom lab init'), options.file)
  if (!lab) throw new Failure(findings, 2)
  const beside = options.file === '-' ? '.' : path.dirname(options.file)
  const shownFolder = options.out ?? path.join(beside, lab.name)
  return { lab, findings, folder: path.resolve(io.cwd, shownFolder), displayFolder: shownFolder }
}

/** For commands that change something: throws with exit code 1 when the lab has errors. */
export async function openValidLab(options: LabOptions, io: Io): Promise<OpenedLab> {
  const opened = await openLab(options, io)
  if (hasErrors(opened.findings)) throw new Failure(opened.findings, 1)
  return opened
}

export function printWarnings({ findings }: OpenedLab, io: Io): void {
  const warnings = findings.filter((finding) => finding.severity === 'warning')
  printFindings(warnings, io)
}
