/**
 * Executes attempts as processes of this machine.
 *
 * An attempt does not outlive the operator that started it: the next operator, here or elsewhere, finds a recorded end or
 * nothing that still runs.
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
import type { WriteGuard } from '../../../kube/write-guard.ts'
import { runInputUnusable } from '../../findings/runs.ts'
import { callbackFolder } from '../../runs/playbooks.ts'
import type { Attempt, Executor, ExecutorState, RunEnd } from '../executor.ts'
import { buildSshFiles, parseKnownHosts } from '../host-keys.ts'
import { buildRunFiles, formatExtraVars, type RunFiles } from '../run-files.ts'
import type { RunInputs } from '../run-inputs.ts'
import {
  type AnsibleProgram,
  ansibleCommand,
  ansibleEnvironment,
  findAnsible,
  KNOWN_HOSTS,
  SSH_CONFIG,
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
  /** The parent of the attempts' folders. */
  readonly folder: string
  readonly timeLimitMs: number
  /** Called when a process is about to be started; none is started when it throws. */
  readonly guard: WriteGuard
  /** Called with the key of the run when an attempt has ended. */
  readonly onEnded: (key: string) => void
  readonly program?: AnsibleProgram
  /** Prefix of every Ansible command: tests confine it this way. */
  readonly enter?: readonly string[]
  readonly clock?: Clock
  /** How many folders of ended attempts are kept for people to read. */
  readonly keep?: number
}

interface LiveAttempt {
  readonly process: RunningProcess
  readonly folder: RunFolder
  readonly mask: Redact
  readonly done: Promise<void>
  /** How many failures were reported already. */
  reportedFailures: number
}

/** The end of the output, which has the reason when no play started. */
const KEPT_LINES = 20

export function localExecutor(options: LocalExecutorOptions): Executor {
  const { folder: base, clock = systemClock, keep = 50 } = options
  const live = new Map<string, LiveAttempt>()
  let program: Promise<AnsibleProgram> | undefined

  const start: Executor['start'] = async (attempt, inputs) => {
    const id = attemptId(attempt)
    if (live.has(id)) return
    const runFiles = buildRunFiles(attempt.run, inputs)
    const [refusal] = runFiles.findings
    if (refusal) throw failure(runInputUnusable, { what: 'the run', reason: refusal.message })
    program ??= options.program ? Promise.resolve(options.program) : findAnsible(runProcess)
    const folder = runFolder(base, attempt)
    const ansible = await program
    const files = withSshFiles(withoutAgent(ansible, withExtraVars(runFiles, attempt, folder)), inputs, folder)
    if (!(await createRunFolder(folder, files.files))) return
    const sockets = await mkdtemp(path.join(tmpdir(), 'stackloom-ssh-'))
    const mask = createRedactor(files.secrets)
    const output: string[] = []
    const command = [...(options.enter ?? []), ...ansibleCommand(ansible, folder, files, id)]
    // Last, with nothing to wait for after it: the operator may have been paused while the files were written.
    try {
      options.guard()
    } catch (lost) {
      await discardFiles(folder, sockets)
      throw lost
    }
    const started = startProcess(
      {
        ...toProgram(wrapCommand(id, command)),
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
          output.push(text)
          if (output.length > KEPT_LINES) output.shift()
          void appendFile(folder.output, `${text}\n`, { mode: 0o600 }).catch(() => undefined)
        },
      },
    )
    const done = started.exit.then(async (ending) => {
      try {
        await killLeftovers(id, clock, sockets)
        const end = await determineEnd(ending, folder, output, mask, options.timeLimitMs)
        await writeEnd(folder, await withLearnedKeys(end, folder))
        await rm(sockets, { recursive: true, force: true })
      } catch {
        // An end that cannot be stored is determined from the events, or unknown.
      }
      // The callback inspects the attempt at once, and must not find it running.
      live.delete(id)
      options.onEnded(objectKey(attempt.run.metadata))
    })
    live.set(id, { process: started, folder, mask, done, reportedFailures: 0 })
  }

  const inspect: Executor['inspect'] = async (attempt) => {
    const id = attemptId(attempt)
    const folder = runFolder(base, attempt)
    const running = live.get(id)
    const events = parseEvents((await readText(folder.events)) ?? '')
    if (running) return { kind: 'running', ...describeProgress(running, events) }
    // Processes of a killed operator may still exist for a moment.
    await killLeftovers(id, clock)
    const stored = await readEnd(folder)
    if (stored) return { kind: 'ended', end: stored }
    const end = endFromEvents(parseEvents((await readText(folder.events)) ?? ''))
    return end ? { kind: 'ended', end: await withLearnedKeys(end, folder) } : { kind: 'absent' }
  }

  return {
    name: 'local',
    start,
    inspect,
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

/** Removes the secrets of an attempt that may not start. */
async function discardFiles(folder: RunFolder, sockets: string): Promise<void> {
  await removeSecrets(folder)
  await rm(sockets, { recursive: true, force: true })
}

function describeProgress(
  running: LiveAttempt,
  events: readonly RunEvent[],
): Omit<Extract<ExecutorState, { kind: 'running' }>, 'kind'> {
  const task = currentTask(events)
  const failures = formatFailures(events, running.mask)
  const unreported = failures.slice(running.reportedFailures)
  running.reportedFailures = failures.length
  return { ...(task !== undefined && { task }), ...(unreported.length > 0 && { failures: unreported }) }
}

/** Adds the variable with the folder of the run's files on this machine. */
function withExtraVars(runFiles: RunFiles, { run }: Attempt, folder: RunFolder): RunFiles {
  const files = new Map(runFiles.files)
  files.set('runner/env/extravars', Buffer.from(formatExtraVars(run, { stackloom_root: folder.root })))
  return { ...runFiles, files }
}

/** Adds the files with which ssh checks the keys of the run's hosts. */
function withSshFiles(runFiles: RunFiles, inputs: RunInputs, folder: RunFolder): RunFiles {
  const { hosts = new Map<string, string>(), hostKeys = {} } = inputs
  const { config, knownHosts } = buildSshFiles(hosts, hostKeys, path.join(folder.root, KNOWN_HOSTS))
  const files = new Map(runFiles.files)
  files.set(SSH_CONFIG, Buffer.from(config))
  files.set(KNOWN_HOSTS, Buffer.from(knownHosts))
  return { ...runFiles, files }
}

/** Known keys are included, too: the controller never replaces the keys of a node. */
async function withLearnedKeys(end: RunEnd, folder: RunFolder): Promise<RunEnd> {
  const hostKeys = parseKnownHosts((await readText(path.join(folder.root, KNOWN_HOSTS))) ?? '')
  return Object.keys(hostKeys).length > 0 ? { ...end, hostKeys } : end
}

async function determineEnd(
  ending: ExitStatus,
  folder: RunFolder,
  output: readonly string[],
  mask: Redact,
  timeLimitMs: number,
): Promise<RunEnd> {
  const events = parseEvents((await readText(folder.events)) ?? '')
  switch (ending.kind) {
    case 'timed-out': {
      const task = currentTask(events)
      const location = task === undefined ? '' : `, in ${task}`
      return { reason: 'TimedOut', message: `not done after ${timeLimitMs / 1000} s${location}` }
    }
    case 'cancelled':
    case 'killed':
      return endFromEvents(events) ?? { reason: 'Unknown', message: 'the run was stopped from outside' }
    case 'not-started':
      return { reason: 'NotStarted', message: ending.reason }
    case 'exited':
      return resolveEnd(events, ending.code, output.join('\n'), mask)
  }
}

/** A play that reported its counts has ended, even if the operator could not store its end. */
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
      return { folder, secretsGone, modifiedMs: (await stat(folder).catch(() => undefined))?.mtimeMs ?? 0 }
    }),
  )
  const oldest = ended.filter(({ secretsGone }) => secretsGone).toSorted((a, b) => a.modifiedMs - b.modifiedMs)
  for (const { folder } of oldest.slice(0, names.length - keep)) await rm(folder, { recursive: true, force: true })
}
