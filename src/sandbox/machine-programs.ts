/** Finds programs that this machine lacks, and names their Debian packages. */
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'

export interface MachineProgram {
  readonly name: string
  /** The Debian package that has it. */
  readonly package: string
}

/** Those that are in no folder of PATH. */
export async function findMissingPrograms(
  programs: readonly MachineProgram[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly MachineProgram[]> {
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter(Boolean)
  const missing: MachineProgram[] = []
  for (const program of programs) {
    const found = await Promise.all(folders.map((folder) => isExecutable(path.join(folder, program.name))))
    if (!found.includes(true)) missing.push(program)
  }
  return missing
}

/** Facts of a finding about missing programs. */
export function describeMissing(missing: readonly MachineProgram[]): {
  readonly programs: readonly string[]
  readonly packages: readonly string[]
} {
  return {
    programs: missing.map(({ name }) => name),
    packages: [...new Set(missing.map((program) => program.package))],
  }
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}
