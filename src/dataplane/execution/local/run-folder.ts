/**
 * Manages the folder of one attempt on this machine: private, laid out like the root of a container, and enough to
 * determine after a crash how the attempt ended.
 *
 *     <uid>-<attempt>/root            the root of a container: what ansible-runner reads
 *     <uid>-<attempt>/events.jsonl    the events of the playbook
 *     <uid>-<attempt>/output.log      the output of Ansible, secrets redacted
 *     <uid>-<attempt>/end.json        how it ended
 */
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Attempt, RunEnd } from '../executor.ts'

export interface RunFolder {
  readonly path: string
  readonly root: string
  readonly runner: string
  readonly events: string
  readonly output: string
}

export function attemptId({ run, number }: Attempt): string {
  return `${run.metadata.uid ?? run.metadata.name}-${number}`
}

export function runFolder(base: string, attempt: Attempt): RunFolder {
  const folder = path.join(base, attemptId(attempt))
  const root = path.join(folder, 'root')
  return {
    path: folder,
    root,
    runner: path.join(root, 'runner'),
    events: path.join(folder, 'events.jsonl'),
    output: path.join(folder, 'output.log'),
  }
}

/** Readable by this user only. False when the folder exists already. */
export async function createRunFolder(folder: RunFolder, files: ReadonlyMap<string, Buffer>): Promise<boolean> {
  await mkdir(path.dirname(folder.path), { recursive: true, mode: 0o700 })
  try {
    await mkdir(folder.path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  for (const part of ['env', 'inventory', 'project']) {
    await mkdir(path.join(folder.runner, part), { recursive: true, mode: 0o700 })
  }
  for (const [name, content] of files) {
    const file = path.join(folder.root, name)
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(file, content, { mode: 0o600 })
  }
  await writeFile(folder.events, '', { mode: 0o600 })
  return true
}

/** Synced to disk before the end is reported, so that it survives a crash. */
export async function writeEnd(folder: RunFolder, end: RunEnd): Promise<void> {
  const file = path.join(folder.path, 'end.json')
  const handle = await open(`${file}.part`, 'w', 0o600)
  await handle.writeFile(JSON.stringify(end))
  await handle.sync()
  await handle.close()
  await rename(`${file}.part`, file)
}

export async function readEnd(folder: RunFolder): Promise<RunEnd | undefined> {
  const text = await readText(path.join(folder.path, 'end.json'))
  return text === undefined ? undefined : (JSON.parse(text) as RunEnd)
}

export async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Removes inventory, keys and configuration; the output stays for people to read. */
export async function removeSecrets(folder: RunFolder): Promise<void> {
  await rm(folder.root, { recursive: true, force: true })
}
