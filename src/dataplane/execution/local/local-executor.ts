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
import { objectKey } from '../../../api/object.ts'
import { type Clock, systemClock } from '../../../clock/clock.ts'
import { failure } from '../../../errors/failure.ts'
import { type ExitStatus, type RunningProcess, runProcess, startProcess, toProgram } from '../../../exec/process.ts'
import { createRedactor, type Redact } from '../../../exec/redact.ts'
import { runInputUnusable } from '../../findings/runs.ts'
import { callbackFolder } from '../../runs/playbooks.ts'
import type { Attempt, Executor, ExecutorState, RunEnd } from '../executor.ts'
import { buildRunFiles, type RunFiles } from '../run-files.ts'
import {
  type AnsibleProgram,
  ansibleCommand,
  ansibleEnvironment,
  findAnsible,
  withoutAgent,
} from './ansible-command.ts'
import { killLeftovers, SOCKETS_VARIABLE, wrapCommand } from './leftovers.ts'
import { currentTask, formatFailures, parseEvents, type RunEvent, resolveEnd } from './run-events.ts'
import {
  attemptId,
  createRunFolder,
  type RunFolder,
  readEnd,
  readText,
  removeSecrets,
  runFolder,
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

interface LiveAttempt {
  readonly process: RunningProcess
  readonly folder: RunFolder
  readonly mask: Redact
  readonly done: Promise<void>
  /** Failures that were told already. */
  reportedFailures: number
}

/** The last that Ansible printed: where it did not come to a play, the reason stands there. */
const KEPT_LINES = 20

export function localExecutor(options: LocalExecutorOptions): Executor {
  const { folder: base, clock = systemClock, keep = 50 } = options
  const live = new Map<string, LiveAttempt>()
  let program: Promise<AnsibleProgram> | undefined

  const begin: Executor['start'] = async (attempt, materials) => {
    const id = attemptId(attempt)
    if (live.has(id)) return
    const wanted = buildRunFiles(attempt.run, materials)
    const [refusal] = wanted.findings
    if (refusal) throw failure(runInputUnusable, { what: 'the run', reason: refusal.message })
    program ??= options.program ? Promise.resolve(options.program) : findAnsible(runProcess)
    const folder = runFolder(base, attempt)
    const chosen = await program
    const files = withoutAgent(chosen, withExtraVars(wanted, attempt, folder))
    if (!(await createRunFolder(folder, files.files))) return
    const sockets = await mkdtemp(path.join(tmpdir(), 'stackloom-ssh-'))
    const mask = createRedactor(files.secrets)
    const said: string[] = []
    const words = [...(options.enter ?? []), ...ansibleCommand(chosen, folder, files, id)]
    const started = startProcess(
      {
        ...toProgram(wrapCommand(id, words)),
        cwd: path.join(folder.runner, 'project'),
        env: {
          ...ansibleEnvironment(folder, files, callbackFolder(), sockets),
          ...files.env,
          [SOCKETS_VARIABLE]: sockets,
        },
      },
      {
        timeoutMs: options.timeLimitMs,
        secrets: files.secrets,
        onLine: (coloured) => {
          const text = stripVTControlCharacters(coloured)
          said.push(text)
          if (said.length > KEPT_LINES) said.shift()
          void appendFile(folder.output, `${text}\n`, { mode: 0o600 }).catch(() => undefined)
        },
      },
    )
    const done = started.exit.then(async (ending) => {
      try {
        await killLeftovers(id, clock, sockets)
        await writeEnd(folder, await determineEnd(ending, folder, said, mask, options.timeLimitMs))
        await rm(sockets, { recursive: true, force: true })
      } catch {
        // An end that cannot be written down is what its events say of it, or it is not known.
      }
      // Whoever is told looks at once, and must not find it running still.
      live.delete(id)
      options.onEnded(objectKey(attempt.run.metadata))
    })
    live.set(id, { process: started, folder, mask, done, reportedFailures: 0 })
  }

  const look: Executor['inspect'] = async (attempt) => {
    const id = attemptId(attempt)
    const folder = runFolder(base, attempt)
    const running = live.get(id)
    const events = parseEvents((await readText(folder.events)) ?? '')
    if (running) return { kind: 'running', ...describeProgress(running, events) }
    // Of an operator that was killed here, something may still be there for a moment.
    await killLeftovers(id, clock)
    const end = (await readEnd(folder)) ?? endFromEvents(parseEvents((await readText(folder.events)) ?? ''))
    return end ? { kind: 'ended', end } : { kind: 'absent' }
  }

  return {
    name: 'local',
    start: begin,
    inspect: look,
    cancel: async (attempt) => {
      const running = live.get(attemptId(attempt))
      if (running) {
        await running.process.stop()
        await running.done
      }
      await killLeftovers(attemptId(attempt), clock)
      return true
    },
    cleanUp: async (attempt) => {
      await removeSecrets(runFolder(base, attempt))
      await removeOldest(base, keep)
    },
  }
}

function describeProgress(
  running: LiveAttempt,
  events: readonly RunEvent[],
): Omit<Extract<ExecutorState, { kind: 'running' }>, 'kind'> {
  const task = currentTask(events)
  const failures = formatFailures(events, running.mask)
  const fresh = failures.slice(running.reportedFailures)
  running.reportedFailures = failures.length
  return { ...(task !== undefined && { task }), ...(fresh.length > 0 && { failures: fresh }) }
}

/** Variables for the playbooks: where on this machine the files of the run stand. */
function withExtraVars(wanted: RunFiles, { run }: Attempt, folder: RunFolder): RunFiles {
  const variables = { ...run.spec.extraVars, stackloom_root: folder.root }
  const files = new Map(wanted.files)
  files.set('runner/env/extravars', Buffer.from(JSON.stringify(variables)))
  return { ...wanted, files }
}

async function determineEnd(
  ending: ExitStatus,
  folder: RunFolder,
  said: readonly string[],
  mask: Redact,
  timeLimitMs: number,
): Promise<RunEnd> {
  const events = parseEvents((await readText(folder.events)) ?? '')
  switch (ending.kind) {
    case 'timed-out': {
      const task = currentTask(events)
      const at = task === undefined ? '' : `, in ${task}`
      return { reason: 'TimedOut', message: `not done after ${timeLimitMs / 1000} s${at}` }
    }
    case 'cancelled':
    case 'killed':
      return endFromEvents(events) ?? { reason: 'Unknown', message: 'the run was ended from outside' }
    case 'not-started':
      return { reason: 'NotStarted', message: ending.reason }
    case 'exited':
      return resolveEnd(events, ending.code, said.join('\n'), mask)
  }
}

/** A play that told its counts has ended, whatever became of those who were to write it down. */
function endFromEvents(events: readonly RunEvent[]): RunEnd | undefined {
  const stats = events.findLast((event) => event.event === 'stats')
  if (stats?.event !== 'stats') return undefined
  const bad = Object.values(stats.hosts).some((host) => host.failures > 0 || host.unreachable > 0)
  return resolveEnd(events, bad ? 2 : 0, '', (text) => text)
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
  for (const { folder } of oldest.slice(0, names.length - keep)) await rm(folder, { recursive: true, force: true })
}
