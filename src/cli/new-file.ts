/** A file that a command makes: never over one that is there, unless it was told to. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { failure } from '../errors/failure.ts'
import { fileExists } from '../errors/new-file.ts'
import { writeOutput } from './files.ts'
import type { Io } from './io.ts'

export async function writeNewFile(file: string, text: string, io: Io, force: boolean): Promise<void> {
  if (!force && existsSync(path.resolve(io.cwd, file))) throw failure(fileExists, { file })
  await writeOutput(file, text, io, { replace: force })
}
