/** Reads input from a path or from stdin, and writes files so that a crash leaves the previous one intact. */
import { existsSync } from 'node:fs'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { unreadableFile, unwritableFile } from '../errors/common.ts'
import { failure, formatError } from '../errors/failure.ts'
import { fileExists } from '../errors/new-file.ts'
import type { Io } from './io.ts'

/** `-` is stdin; paths are relative to the working directory. `madeBy` is the command that creates such a file. */
export async function readInput(name: string, io: Io, madeBy?: string): Promise<Uint8Array> {
  if (name === '-') {
    const chunks: Buffer[] = []
    for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk as Uint8Array | string))
    return Buffer.concat(chunks)
  }
  try {
    return await readFile(path.resolve(io.cwd, name))
  } catch (thrown) {
    const facts = { file: name, reason: formatSystemError(thrown), ...(madeBy !== undefined && { madeBy }) }
    throw failure(unreadableFile, facts, { cause: thrown })
  }
}

/** Writes a temporary file and moves it to its target. Without `replace`, an existing file is not overwritten. */
export async function writeOutput(
  name: string,
  text: string,
  io: Io,
  { replace, mode }: { readonly replace: boolean; readonly mode?: number },
): Promise<void> {
  const target = path.resolve(io.cwd, name)
  const temporary = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.tmp`)
  try {
    await writeAndSync(temporary, text, mode)
    // A link, unlike a rename, fails when the name is taken.
    await (replace ? rename(temporary, target) : link(temporary, target))
  } catch (thrown) {
    throw failure(unwritableFile, { file: name, reason: formatSystemError(thrown) }, { cause: thrown })
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Creates a file; an existing one is overwritten only with `force`. */
export async function writeNewFile(file: string, text: string, io: Io, force: boolean): Promise<void> {
  if (!force && existsSync(path.resolve(io.cwd, file))) throw failure(fileExists, { file })
  await writeOutput(file, text, io, { replace: force })
}

async function writeAndSync(file: string, text: string, mode?: number): Promise<void> {
  const handle = await open(file, 'w', mode)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Node's `ENOENT: no such file or directory, open '…'` without the error code and the path. */
function formatSystemError(thrown: unknown): string {
  return /^[A-Z]+: ([^,]+)/.exec(formatError(thrown))?.[1] ?? formatError(thrown)
}
