/**
 * Records the rehearsal that `--keep` leaves, finds it in a later run, and ends it. There is at most one: it holds the
 * memory of its machines.
 */

import { mkdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { asRecord, asStrings } from '../api/json.ts'
import { writeFileAtomically } from '../files/write-file.ts'
import type { SandboxPaths } from '../sandbox/sandbox-context.ts'

export interface KeptRehearsal {
  readonly site: string
  readonly nodes: readonly string[]
  /** The process whose end is the end of the enclosure. */
  readonly pid: number
  /** When this process started: after a reboot another one may have its number. */
  readonly started: string
}

export async function recordKept(
  paths: SandboxPaths,
  { site, nodes, pid }: Omit<KeptRehearsal, 'started'>,
): Promise<void> {
  const kept: KeptRehearsal = { site, nodes, pid, started: (await startTime(pid)) ?? '' }
  await mkdir(path.dirname(recordFile(paths)), { recursive: true })
  await writeFileAtomically(recordFile(paths), `${JSON.stringify(kept)}\n`)
}

/** Undefined where nothing is kept any more. */
export async function findKept(paths: SandboxPaths): Promise<KeptRehearsal | undefined> {
  const text = await readFile(recordFile(paths), 'utf8').catch(() => '')
  const kept = parseRecord(text)
  return kept && (await startTime(kept.pid)) === kept.started ? kept : undefined
}

/** Pure. A process id below 2 would mean more than one process to `kill`, and an unknown start every process that has ended. */
function parseRecord(text: string): KeptRehearsal | undefined {
  try {
    const { site, nodes, pid, started } = asRecord(JSON.parse(text))
    const isProcess = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 1
    if (!isProcess || typeof started !== 'string' || started === '') return undefined
    return { site: String(site), nodes: asStrings(nodes), pid, started }
  } catch {
    return undefined
  }
}

/** Ends the kept rehearsal and returns it. */
export async function endKept(paths: SandboxPaths): Promise<KeptRehearsal | undefined> {
  const kept = await findKept(paths)
  if (kept) {
    // The kernel ends everything in its namespaces with it.
    process.kill(kept.pid, 'SIGKILL')
    while ((await startTime(kept.pid)) === kept.started) await sleep(20)
  }
  await rm(recordFile(paths), { force: true })
  return kept
}

/** Beside the sandboxes and not in the cache, which may be deleted at any time. */
function recordFile({ sandboxes }: SandboxPaths): string {
  return path.join(path.dirname(sandboxes), 'kept-rehearsal.json')
}

/** In ticks after boot; undefined without such a process. */
async function startTime(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return stat === undefined ? undefined : parseStartTime(stat)
}

/** Pure: the 22nd field. The second one is a name in brackets, which may have spaces. A zombie counts as ended. */
export function parseStartTime(stat: string): string | undefined {
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return state === 'Z' ? undefined : fields[18]
}
