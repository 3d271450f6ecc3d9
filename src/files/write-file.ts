/**
 * Replaces a file in one step: writes a temporary file beside it and renames it, so that a crash or a full disk leaves
 * the old file complete. Must not know findings: callers decide what a failure means.
 */
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { chmod, link, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { isRunning } from './process-alive.ts'

export interface WriteFileOptions {
  /** Exact mode, regardless of the umask. */
  readonly mode?: number
  /** False fails with EEXIST when the file exists. */
  readonly replace?: boolean
}

/** Resolves when the content is on the disk. */
export async function writeFileAtomically(
  file: string,
  content: string | Uint8Array,
  { mode, replace = true }: WriteFileOptions = {},
): Promise<void> {
  // A symbolic link stays one: the file that it leads to is replaced.
  const target = replace ? await realpath(file).catch(() => file) : file
  const temporary = temporaryName(target)
  try {
    const handle = await open(temporary, 'w', mode)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (mode !== undefined) await chmod(temporary, mode)
    // Unlike rename, link fails when the target exists.
    await (replace ? rename(temporary, target) : link(temporary, target))
  } finally {
    await rm(temporary, { force: true })
  }
  await removeAbandoned(target)
}

/** Removes temporary files of this file whose process was killed before the rename. */
async function removeAbandoned(file: string): Promise<void> {
  const folder = path.dirname(file)
  const prefix = `.${path.basename(file)}.`
  for (const name of await readdir(folder)) {
    const processId = name.startsWith(prefix) ? /^(\d+)\.tmp$/.exec(name.slice(prefix.length))?.[1] : undefined
    if (processId !== undefined && !isRunning(Number(processId))) await rm(path.join(folder, name), { force: true })
  }
}

/** For trees of many small files: half the time of the asynchronous calls, and no wait for the disk. */
export function writeFileAtomicallySync(file: string, content: string, mode: number): void {
  const temporary = temporaryName(file)
  try {
    writeFileSync(temporary, content, { mode })
    chmodSync(temporary, mode)
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function temporaryName(file: string): string {
  return path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`)
}
