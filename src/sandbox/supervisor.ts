/**
 * Runs the programs of one sandbox: starts them in order, restarts them, and stops them. Its programs exit with it, and an
 * ephemeral supervisor exits with its parent. Knows no Kubernetes.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { formatError } from '../errors/failure.ts'
import { type ControlRequest, createControlServer } from './control.ts'
import { logFile, type SandboxFolder } from './folder.ts'
import { type Forwarder, forward } from './forward.ts'
import { type SupervisedTask, superviseTask } from './supervised-task.ts'
import {
  OUTER_PID,
  type StartFailure,
  type SupervisorSpec,
  type SupervisorStatus,
  type Task,
} from './supervisor-spec.ts'

/** Reported to the launcher once, on standard output. */
export type StartOutcome = { readonly kind: 'ready' } | ({ readonly kind: 'failed' } & StartFailure)

/** The listening socket inherited from a launcher outside the namespace. */
const LISTEN_FD = 3

const LOG_LINES = 12

export async function supervise(folder: SandboxFolder): Promise<void> {
  const spec = JSON.parse(await readFile(folder.supervisorSpec, 'utf8')) as SupervisorSpec
  const logEvent = (text: string): void => void process.stderr.write(`${new Date().toISOString()} ${text}\n`)
  const tasks = new Map<string, SupervisedTask>(
    spec.tasks.map((task) => [task.name, superviseTask(task, { ...spec, logEvent, log: logFile(folder, task.name) })]),
  )
  const forwarders: Forwarder[] = []
  let ready = false
  const status = (): SupervisorStatus => ({
    pid: Number(process.env[OUTER_PID] ?? process.pid),
    ready,
    tasks: [...tasks.values()].map((task) => task.status()),
  })

  const stopAll = async (): Promise<void> => {
    ready = false
    for (const wave of stopOrder(spec.tasks)) await Promise.all(wave.map((name) => findTask(name).stop()))
  }
  const exit = (code: number): never => {
    for (const task of tasks.values()) void task.kill()
    control.close()
    rmSync(folder.control, { force: true })
    if (spec.ephemeral) rmSync(folder.root, { recursive: true, force: true })
    process.exit(code)
  }
  const findTask = (name: string): SupervisedTask => {
    const task = tasks.get(name)
    if (!task) throw new Error(`there is no task ${name}; there are: ${[...tasks.keys()].join(', ')}`)
    return task
  }
  const handle = async (request: ControlRequest): Promise<SupervisorStatus> => {
    if (request.do === 'stop') {
      await stopAll()
      setImmediate(() => setTimeout(() => exit(0), 10))
    }
    if (request.do === 'kill') await findTask(request.task).kill()
    if (request.do === 'start') await findTask(request.task).start()
    if (request.do === 'expose') {
      forwarders.push(await forward({ port: request.port, host: '127.0.0.1' }, { path: request.socket }))
    }
    return status()
  }

  const control = createControlServer(handle)
  rmSync(folder.control, { force: true })
  control.listen(folder.control)
  if (spec.ephemeral) {
    // The parent holds the other end of this pipe; the kernel closes it when the parent exits.
    process.stdin.resume().once('close', () => exit(0))
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void stopAll().then(() => exit(0)))
  }
  process.once('uncaughtException', (error) => {
    logEvent(`the supervisor fails: ${error.stack}`)
    exit(1)
  })

  rmSync(folder.failure, { force: true })
  try {
    if (spec.forwardTo !== undefined) {
      const target = { port: spec.forwardTo, host: '127.0.0.1' }
      forwarders.push(await forward({ fd: LISTEN_FD }, target))
    }
    await startAll(spec, tasks)
    ready = true
    reportOutcome({ kind: 'ready' })
  } catch (error) {
    const failed = error instanceof TaskError ? error.task : 'the supervisor'
    const startFailure: StartFailure = { task: failed, reason: formatError(error), log: tailLog(folder, failed) }
    writeFileSync(folder.failure, JSON.stringify(startFailure))
    await stopAll()
    reportOutcome({ kind: 'failed', ...startFailure })
    setTimeout(() => exit(1), 50)
  }
}

class TaskError extends Error {
  readonly task: string

  constructor(task: string, cause: unknown) {
    super(formatError(cause))
    this.task = task
  }
}

/** Starts each task as soon as its dependencies are ready. */
async function startAll(spec: SupervisorSpec, tasks: ReadonlyMap<string, SupervisedTask>): Promise<void> {
  const started = new Map<string, Promise<void>>()
  for (const task of spec.tasks) {
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

/** Stops tasks without dependents first, in parallel; etcd stops last, because the others write to it. */
export function stopOrder(tasks: readonly Task[]): readonly (readonly string[])[] {
  if (tasks.length === 0) return []
  const needed = new Set(tasks.flatMap((task) => task.after))
  const free = tasks.filter((task) => !needed.has(task.name))
  const rest = tasks.filter((task) => needed.has(task.name))
  // Tasks with a cyclic dependency stop together.
  if (free.length === 0) return [tasks.map(({ name }) => name)]
  return [free.map(({ name }) => name), ...stopOrder(rest)]
}

/** A launcher that exited in the meantime is not an error. */
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
