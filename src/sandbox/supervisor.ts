/**
 * The supervisor: one process per running sandbox that starts its programs in order, keeps them running, and
 * ends them. Its programs end with it, and an ephemeral one ends with its parent, whatever ends that.
 *
 * Runs processes; knows no Kubernetes.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { formatError } from '../errors/failure.ts'
import { type ControlRequest, createControlServer } from './control.ts'
import { logFile, type SandboxFolder } from './folder.ts'
import { type Forwarder, forward } from './forward.ts'
import { type SupervisedTask, superviseTask } from './supervised-task.ts'
import type { StartFailure, SupervisorSpec, SupervisorStatus, Task } from './supervisor-spec.ts'

/** What the supervisor tells its launcher on standard output, once. */
export type StartOutcome = { readonly kind: 'ready' } | ({ readonly kind: 'failed' } & StartFailure)

/** The listening socket that a launcher outside the namespace hands down. */
const LISTEN_FD = 3

const LOG_LINES = 12

export async function supervise(folder: SandboxFolder): Promise<void> {
  const mission = JSON.parse(await readFile(folder.supervisorSpec, 'utf8')) as SupervisorSpec
  const say = (text: string): void => void process.stderr.write(`${new Date().toISOString()} ${text}\n`)
  const tasks = new Map<string, SupervisedTask>(
    mission.tasks.map((task) => [
      task.name,
      superviseTask(task, { ...mission, logEvent: say, log: logFile(folder, task.name) }),
    ]),
  )
  const forwarders: Forwarder[] = []
  let ready = false
  const status = (): SupervisorStatus => ({
    pid: process.pid,
    ready,
    tasks: [...tasks.values()].map((task) => task.status()),
  })

  const stopAll = async (): Promise<void> => {
    ready = false
    for (const wave of stopOrder(mission.tasks)) await Promise.all(wave.map((name) => named(name).stop()))
  }
  const leave = (code: number): never => {
    for (const task of tasks.values()) void task.kill()
    control.close()
    rmSync(folder.control, { force: true })
    if (mission.ephemeral) rmSync(folder.root, { recursive: true, force: true })
    process.exit(code)
  }
  const named = (name: string): SupervisedTask => {
    const task = tasks.get(name)
    if (!task) throw new Error(`there is no ${name} here; there are: ${[...tasks.keys()].join(', ')}`)
    return task
  }
  const obey = async (request: ControlRequest): Promise<SupervisorStatus> => {
    if (request.do === 'stop') {
      await stopAll()
      setImmediate(() => setTimeout(() => leave(0), 10))
    }
    if (request.do === 'kill') await named(request.task).kill()
    if (request.do === 'start') await named(request.task).start()
    if (request.do === 'expose') {
      forwarders.push(await forward({ port: request.port, host: '127.0.0.1' }, { path: request.socket }))
    }
    return status()
  }

  const control = createControlServer(obey)
  rmSync(folder.control, { force: true })
  control.listen(folder.control)
  if (mission.ephemeral) {
    // The parent holds the other end of this pipe; the kernel closes it when the parent is gone.
    process.stdin.resume().once('close', () => leave(0))
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void stopAll().then(() => leave(0)))
  }
  process.once('uncaughtException', (error) => {
    say(`the supervisor fails: ${error.stack}`)
    leave(1)
  })

  rmSync(folder.failure, { force: true })
  try {
    if (mission.forwardTo !== undefined) {
      const target = { port: mission.forwardTo, host: '127.0.0.1' }
      forwarders.push(await forward({ fd: LISTEN_FD }, target))
    }
    await startAll(mission, tasks)
    ready = true
    reportOutcome({ kind: 'ready' })
  } catch (error) {
    const failed = error instanceof TaskError ? error.task : 'the supervisor'
    const found: StartFailure = { task: failed, reason: formatError(error), log: tailLog(folder, failed) }
    writeFileSync(folder.failure, JSON.stringify(found))
    await stopAll()
    reportOutcome({ kind: 'failed', ...found })
    setTimeout(() => leave(1), 50)
  }
}

class TaskError extends Error {
  readonly task: string

  constructor(task: string, cause: unknown) {
    super(formatError(cause))
    this.task = task
  }
}

/** Every task as soon as those before it are ready. */
async function startAll(mission: SupervisorSpec, tasks: ReadonlyMap<string, SupervisedTask>): Promise<void> {
  const started = new Map<string, Promise<void>>()
  for (const task of mission.tasks) {
    const before = task.after.map((name) => started.get(name) ?? Promise.resolve())
    started.set(
      task.name,
      Promise.all(before).then(async () => {
        await tasks
          .get(task.name)
          ?.start()
          .catch((cause: unknown) => {
            throw new TaskError(task.name, cause)
          })
      }),
    )
  }
  await Promise.all(started.values())
}

/** Who needs nobody any more goes first, all of them at once; the store goes last, for the others write to it. */
export function stopOrder(tasks: readonly Task[]): readonly (readonly string[])[] {
  if (tasks.length === 0) return []
  const needed = new Set(tasks.flatMap((task) => task.after))
  const free = tasks.filter((task) => !needed.has(task.name))
  const rest = tasks.filter((task) => needed.has(task.name))
  // Tasks that need each other cannot be put in order; they end together.
  if (free.length === 0) return [tasks.map(({ name }) => name)]
  return [free.map(({ name }) => name), ...stopOrder(rest)]
}

/** Only the first word is read; a launcher that has gone since is no failure. */
function reportOutcome(outcome: StartOutcome): void {
  process.stdout.on('error', () => undefined)
  process.stdout.write(`${JSON.stringify(outcome)}\n`)
}

function tailLog(folder: SandboxFolder, task: string): string {
  try {
    return readFileSync(logFile(folder, task), 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n')
  } catch {
    return ''
  }
}
