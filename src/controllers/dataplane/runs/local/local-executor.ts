/**
 * Runs attempts as processes of this machine.
 *
 * An attempt lives no longer than the operator that began it: whoever takes over, here or elsewhere, finds a recorded
 * end or nothing that still runs.
 */
import { appendFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { keyOf } from '../../../../api/object.ts'
import { type Clock, systemClock } from '../../../../clock/clock.ts'
import { failure } from '../../../../errors/failure.ts'
import { runInputUnusable } from '../../../../errors/runs.ts'
import { type Ending, programOf, type Running, runProcess, startProcess } from '../../../../exec/process.ts'
import { type Redact, redactor } from '../../../../exec/redact.ts'
import { callbackFolder } from '../../playbooks.ts'
import type { Attempt, Executor, RunEnd, Standing } from '../executor.ts'
import { type RunFiles, runFiles } from '../run-files.ts'
import {
  type AnsibleProgram,
  ansibleEnvironment,
  ansibleWords,
  findAnsible,
  withoutAgent,
} from './ansible-command.ts'
import { endLeftovers, guarded, SOCKETS } from './leftovers.ts'
import { endOf, eventsOf, failuresOf, type RunEvent, taskOf } from './run-events.ts'
import {
  attemptId,
  folderOf,
  makeFolder,
  type RunFolder,
  readEnd,
  removeSecrets,
  textOf,
  writeEnd,
} from './run-folder.ts'

export interface LocalExecutorOptions {
  /** Where the folders of attempts are kept. */
  readonly folder: string
  readonly timeLimitMs: number
  /** Told when an attempt has ended: the key of its run. */
  readonly onEnded: (key: string) => void
  readonly program?: AnsibleProgram
  /** Words before every Ansible command: tests confine it this way. */
  readonly enter?: readonly string[]
  readonly clock?: Clock
  /** So many folders of ended attempts are kept for people to look at. */
  readonly keep?: number
}

interface Live {
  readonly process: Running
  readonly folder: RunFolder
  readonly mask: Redact
  readonly done: Promise<void>
  /** Failures that were told already. */
  told: number
}

/** The last that Ansible printed: where it did not come to a play, the reason stands there. */
const LAST_LINES = 20

export function localExecutor(options: LocalExecutorOptions): Executor {
  const { folder: base, clock = systemClock, keep = 50 } = options
  const live = new Map<string, Live>()
  let program: Promise<AnsibleProgram> | undefined

  const begin: Executor['begin'] = async (attempt, materials) => {
    const id = attemptId(attempt)
    if (live.has(id)) return
    const wanted = runFiles(attempt.run, materials)
    const [refusal] = wanted.findings
    if (refusal) throw failure(runInputUnusable, { what: 'the run', reason: refusal.message })
    program ??= options.program ? Promise.resolve(options.program) : findAnsible(runProcess)
    const folder = folderOf(base, attempt)
    const chosen = await program
    const files = withoutAgent(chosen, withVariables(wanted, attempt, folder))
    if (!(await makeFolder(folder, files.files))) return
    const sockets = await mkdtemp(path.join(tmpdir(), 'stackloom-ssh-'))
    const mask = redactor(files.secrets)
    const said: string[] = []
    const words = [...(options.enter ?? []), ...ansibleWords(chosen, folder, files, id)]
    const started = startProcess(
      {
        ...programOf(guarded(id, words)),
        cwd: path.join(folder.runner, 'project'),
        env: {
          ...ansibleEnvironment(folder, files, callbackFolder(), sockets),
          ...files.env,
          [SOCKETS]: sockets,
        },
      },
      {
        timeoutMs: options.timeLimitMs,
        secrets: files.secrets,
        onLine: (coloured) => {
          const text = stripVTControlCharacters(coloured)
          said.push(text)
          if (said.length > LAST_LINES) said.shift()
          void appendFile(folder.output, `${text}\n`, { mode: 0o600 }).catch(() => undefined)
        },
      },
    )
    const done = started.ended.then(async (ending) => {
      try {
        await endLeftovers(id, clock, sockets)
        await writeEnd(folder, await endFor(ending, folder, said, mask, options.timeLimitMs))
        await rm(sockets, { recursive: true, force: true })
      } catch {
        // An end that cannot be written down is what its events say of it, or it is not known.
      }
      // Whoever is told looks at once, and must not find it running still.
      live.delete(id)
      options.onEnded(keyOf(attempt.run.metadata))
    })
    live.set(id, { process: started, folder, mask, done, told: 0 })
  }

  const look: Executor['look'] = async (attempt) => {
    const id = attemptId(attempt)
    const folder = folderOf(base, attempt)
    const running = live.get(id)
    const events = eventsOf((await textOf(folder.events)) ?? '')
    if (running) return { kind: 'running', ...news(running, events) }
    // Of an operator that was killed here, something may still be there for a moment.
    await endLeftovers(id, clock)
    const end = (await readEnd(folder)) ?? recordedBy(eventsOf((await textOf(folder.events)) ?? ''))
    return end ? { kind: 'ended', end } : { kind: 'absent' }
  }

  return {
    name: 'local',
    begin,
    look,
    cancel: async (attempt) => {
      const running = live.get(attemptId(attempt))
      if (running) {
        await running.process.stop()
        await running.done
      }
      await endLeftovers(attemptId(attempt), clock)
      return true
    },
    forget: async (attempt) => {
      await removeSecrets(folderOf(base, attempt))
      await removeOldest(base, keep)
    },
  }
}

function news(
  running: Live,
  events: readonly RunEvent[],
): Omit<Extract<Standing, { kind: 'running' }>, 'kind'> {
  const task = taskOf(events)
  const failures = failuresOf(events, running.mask)
  const fresh = failures.slice(running.told)
  running.told = failures.length
  return { ...(task !== undefined && { task }), ...(fresh.length > 0 && { failures: fresh }) }
}

/** Variables for the playbooks: where on this machine the files of the run stand. */
function withVariables(wanted: RunFiles, { run }: Attempt, folder: RunFolder): RunFiles {
  const variables = { ...run.spec.extraVars, stackloom_root: folder.root }
  const files = new Map(wanted.files)
  files.set('runner/env/extravars', Buffer.from(JSON.stringify(variables)))
  return { ...wanted, files }
}

async function endFor(
  ending: Ending,
  folder: RunFolder,
  said: readonly string[],
  mask: Redact,
  timeLimitMs: number,
): Promise<RunEnd> {
  const events = eventsOf((await textOf(folder.events)) ?? '')
  switch (ending.kind) {
    case 'timed-out': {
      const task = taskOf(events)
      const at = task === undefined ? '' : `, in ${task}`
      return { reason: 'TimedOut', message: `not done after ${timeLimitMs / 1000} s${at}` }
    }
    case 'cancelled':
    case 'killed':
      return recordedBy(events) ?? { reason: 'Unknown', message: 'the run was ended from outside' }
    case 'not-started':
      return { reason: 'NotStarted', message: ending.reason }
    case 'exited':
      return endOf(events, ending.code, said.join('\n'), mask)
  }
}

/** A play that told its counts has ended, whatever became of those who were to write it down. */
function recordedBy(events: readonly RunEvent[]): RunEnd | undefined {
  const stats = events.findLast((one) => one.event === 'stats')
  if (stats?.event !== 'stats') return undefined
  const bad = Object.values(stats.hosts).some((one) => one.failures > 0 || one.unreachable > 0)
  return endOf(events, bad ? 2 : 0, '', (text) => text)
}

async function removeOldest(base: string, keep: number): Promise<void> {
  const names = await readdir(base).catch(() => [])
  if (names.length <= keep) return
  const ended = await Promise.all(
    names.map(async (name) => {
      const folder = path.join(base, name)
      const secretsGone = (await stat(path.join(folder, 'root')).catch(() => undefined)) === undefined
      return { folder, secretsGone, at: (await stat(folder).catch(() => undefined))?.mtimeMs ?? 0 }
    }),
  )
  const oldest = ended.filter((one) => one.secretsGone).toSorted((a, b) => a.at - b.at)
  for (const { folder } of oldest.slice(0, names.length - keep))
    await rm(folder, { recursive: true, force: true })
}
