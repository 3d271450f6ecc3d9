/** Files of a command: read from a path or from stdin, written so that a crash leaves the old one whole. */
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { unreadableFile, unwritableFile } from '../errors/common.ts'
import { failure, formatError } from '../errors/failure.ts'
import type { Io } from './io.ts'

/** `-` is stdin; paths count from where the command was started. `madeBy`: the command that makes such a file. */
export async function readInput(name: string, io: Io, madeBy?: string): Promise<Uint8Array> {
  if (name === '-') {
    const chunks: Buffer[] = []
    for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk as Uint8Array | string))
    return Buffer.concat(chunks)
  }
  try {
    return await readFile(path.resolve(io.cwd, name))
  } catch (thrown) {
    const facts = { file: name, reason: systemReason(thrown), ...(madeBy !== undefined && { madeBy }) }
    throw failure(unreadableFile, facts, { cause: thrown })
  }
}

/** Written beside its place and moved into it. Without `replace`, a file that is there already stays as it is. */
export async function writeOutput(
  name: string,
  text: string,
  io: Io,
  { replace, mode }: { readonly replace: boolean; readonly mode?: number },
): Promise<void> {
  const target = path.resolve(io.cwd, name)
  const draft = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.tmp`)
  try {
    await writeDraft(draft, text, mode)
    // A link, unlike a rename, fails when the name is taken.
    await (replace ? rename(draft, target) : link(draft, target))
  } catch (thrown) {
    throw failure(unwritableFile, { file: name, reason: systemReason(thrown) }, { cause: thrown })
  } finally {
    await rm(draft, { force: true })
  }
}

async function writeDraft(draft: string, text: string, mode?: number): Promise<void> {
  const file = await open(draft, 'w', mode)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Node's `ENOENT: no such file or directory, open '…'` without what everybody knows. */
function systemReason(thrown: unknown): string {
  return /^[A-Z]+: ([^,]+)/.exec(formatError(thrown))?.[1] ?? formatError(thrown)
}
