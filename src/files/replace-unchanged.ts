/**
 * Replaces a file only if it still has the content that was read: of several processes that decided on the same content,
 * one writes and the others learn of it. Must not know findings: callers decide what a refusal means.
 */
import { link, open, readFile, realpath, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning } from './process-alive.ts'
import { writeFileAtomically } from './write-file.ts'

/** False when the file is no longer as it was read; `before` is undefined for a file that did not exist. */
export async function replaceUnchanged(file: string, before: string | undefined, content: string): Promise<boolean> {
  const target = await realpath(file).catch(() => file)
  const mutex = path.join(path.dirname(target), `.${path.basename(target)}.writing`)
  await acquire(mutex)
  try {
    if ((await readIfPresent(target)) !== before) return false
    await writeFileAtomically(target, content)
    return true
  } finally {
    await rm(mutex, { force: true })
  }
}

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined
    throw thrown
  }
}

/** Waits for a running holder: it holds the mutex for one small write. */
async function acquire(mutex: string): Promise<void> {
  for (;;) {
    try {
      const handle = await open(mutex, 'wx')
      try {
        await handle.writeFile(String(process.pid))
      } finally {
        await handle.close()
      }
      return
    } catch (thrown) {
      if (!hasCode(thrown, 'EEXIST')) throw thrown
    }
    if (await isAbandoned(mutex)) await removeAbandoned(mutex)
    else await sleep(10)
  }
}

/** Whether the process that created the mutex was killed before it could remove it. */
async function isAbandoned(mutex: string): Promise<boolean> {
  const text = await readIfPresent(mutex)
  if (text === undefined) return false
  // Between its creation and the write of the process id the mutex is empty.
  if (text === '') {
    await sleep(1000)
    return (await readIfPresent(mutex)) === ''
  }
  return !isRunning(Number(text))
}

/** Renames before it removes: of two processes that see one abandoned mutex, each removes only what it looked at. */
async function removeAbandoned(mutex: string): Promise<void> {
  const taken = `${mutex}.${process.pid}`
  try {
    await rename(mutex, taken)
    if (!(await isAbandoned(taken))) await link(taken, mutex)
  } catch (thrown) {
    if (!hasCode(thrown, 'ENOENT') && !hasCode(thrown, 'EEXIST')) throw thrown
  } finally {
    await rm(taken, { force: true })
  }
}

function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code
}
