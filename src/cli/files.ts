/** Reads input from a path or stdin, and writes output files; failures become findings. */
import { existsSync } from 'node:fs'
import { access, constants, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { inputTooLarge, unreadableFile, unwritableFile } from '../errors/common.ts'
import { Failure, failure, formatError } from '../errors/failure.ts'
import { fileExists } from '../errors/new-file.ts'
import { readLimited } from '../files/read-limited.ts'
import { replaceUnchanged } from '../files/replace-unchanged.ts'
import { type WriteFileOptions, writeFileAtomically } from '../files/write-file.ts'
import type { Io } from './io.ts'

/** `-` is stdin; paths are relative to the working directory. `madeBy` is the command that creates such a file. */
export async function readInput(name: string, io: Io, madeBy?: string): Promise<Uint8Array> {
  io.verbose?.(`read ${name === '-' ? 'stdin' : name}`)
  try {
    const bytes = await readLimited(name === '-' ? io.stdin : path.resolve(io.cwd, name), INPUT_LIMIT_MIB * 1024 ** 2)
    if (!bytes) throw failure(inputTooLarge, { file: name, limitMiB: INPUT_LIMIT_MIB })
    return bytes
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown
    const facts = { file: name, reason: formatSystemError(thrown), ...(madeBy !== undefined && { madeBy }) }
    throw failure(unreadableFile, facts, { cause: thrown })
  }
}

const INPUT_LIMIT_MIB = 64

/** Fails for a file that cannot be read now, without reading it. */
export async function checkReadable(name: string, io: Io): Promise<void> {
  if (name === '-') return
  try {
    await access(path.resolve(io.cwd, name), constants.R_OK)
  } catch (thrown) {
    throw failure(unreadableFile, { file: name, reason: formatSystemError(thrown) }, { cause: thrown })
  }
}

/** Without `replace`, an existing file is not overwritten. */
export async function writeOutput(name: string, text: string, io: Io, options: WriteFileOptions): Promise<void> {
  // From here on a signal waits: a temporary file must not stay behind.
  io.stop.throwIfAborted()
  io.verbose?.(`write ${name}`)
  try {
    await writeFileAtomically(path.resolve(io.cwd, name), text, options)
  } catch (thrown) {
    throw failure(unwritableFile, { file: name, reason: formatSystemError(thrown) }, { cause: thrown })
  }
}

/** Before the work whose results go there. */
export async function createFolder(name: string, io: Io): Promise<void> {
  try {
    await mkdir(path.resolve(io.cwd, name), { recursive: true })
  } catch (thrown) {
    throw failure(unwritableFile, { file: name, reason: formatSystemError(thrown) }, { cause: thrown })
  }
}

/** Replaces a file that still has the text that was read; false if it has another one. */
export async function replaceOutput(name: string, before: string | undefined, text: string, io: Io): Promise<boolean> {
  io.verbose?.(`write ${name}`)
  try {
    return await replaceUnchanged(path.resolve(io.cwd, name), before, text)
  } catch (thrown) {
    throw failure(unwritableFile, { file: name, reason: formatSystemError(thrown) }, { cause: thrown })
  }
}

/** Fails for a file that exists, unless `force` is set. `option` is the one that names the file. */
export function refuseExisting(file: string, io: Io, force: boolean, option = '-f'): void {
  if (!force && existsSync(path.resolve(io.cwd, file))) throw failure(fileExists, { file, option })
}

/** Creates a file; an existing one is overwritten only with `force`. */
export async function writeNewFile(file: string, text: string, io: Io, force: boolean, option?: string): Promise<void> {
  refuseExisting(file, io, force, option)
  await writeOutput(file, text, io, { replace: force })
}

/** Node's `ENOENT: no such file or directory, open '…'` without the error code and the path. */
function formatSystemError(thrown: unknown): string {
  return /^[A-Z]+: ([^,]+)/.exec(formatError(thrown))?.[1] ?? formatError(thrown)
}
