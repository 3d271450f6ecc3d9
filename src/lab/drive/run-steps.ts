/** Does the steps of a stage: runs, writes, remembers; keeps the output per stage and quotes the cause of a failure. */
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { describeExit, type Exec, type ProcessResult, succeeded, toProgram } from '../../exec/process.ts'
import type { StageContext } from '../../run/stage.ts'
import { ansibleFailed, stageFailed } from '../findings/lab-run.ts'
import { STATE_FOLDER } from '../tree.ts'
import { writeFileAtomically } from '../tree-store.ts'
import { extractCause } from './failure-cause.ts'
import { missingTool } from './missing-tool.ts'
import type { StateStore } from './state.ts'
import { formatShellCommand, type RunStep, type Step } from './step.ts'

export interface StepRunner {
  readonly folder: string
  readonly exec: Exec
  readonly env: Readonly<Record<string, string | undefined>>
  /** Masked in every output. */
  readonly secrets: readonly string[]
  readonly store: StateStore
}

export async function runSteps(
  stage: string,
  steps: readonly Step[],
  performer: StepRunner,
  context: StageContext,
): Promise<void> {
  const log = `${STATE_FOLDER}/logs/${stage}.log`
  await mkdir(path.join(performer.folder, `${STATE_FOLDER}/logs`), { recursive: true, mode: 0o700 })
  for (const [done, step] of steps.entries()) {
    context.stop.throwIfAborted()
    if (step.kind === 'note') {
      await performer.store.update(step.update)
      continue
    }
    context.emit({ kind: 'progress', message: step.description, done, total: steps.length })
    if (step.kind === 'write') writeFileAtomically(step.folder, step.file)
    else await runStep(step, log, performer, context)
  }
}

async function runStep(step: RunStep, log: string, performer: StepRunner, context: StageContext): Promise<void> {
  const { clock, stop, emit } = context
  const tries = step.retry?.tries ?? 1
  for (let attempt = 1; ; attempt += 1) {
    const finished = await runOnce(step, log, performer, context)
    stop.throwIfAborted()
    const wrong = stepFailure(step, finished, path.join(performer.folder, log))
    if (!wrong) return
    if (attempt >= tries) throw wrong
    emit({ kind: 'waiting', reason: `${step.description}: not yet (${attempt} of ${tries})` })
    await clock.sleep(step.retry?.everyMs ?? 0, stop)
    stop.throwIfAborted()
  }
}

async function runOnce(
  step: RunStep,
  log: string,
  { folder, exec, env, secrets }: StepRunner,
  { stop, emit }: StageContext,
): Promise<ProcessResult> {
  const input = step.inputFile === undefined ? undefined : await readFile(path.join(folder, step.inputFile), 'utf8')
  const file = path.join(folder, log)
  await appendFile(file, `$ ${formatShellCommand(step.command)}\n`, { mode: 0o600 })
  const finished = await exec(
    { ...toProgram(step.command), cwd: folder, env, ...(input !== undefined && { input }) },
    {
      secrets,
      signal: stop,
      onLine: (line) => {
        // Ansible's tasks are the progress of a deployment.
        const task = /^TASK \[(.+?)\] \**$/.exec(line)?.[1]
        if (task) emit({ kind: 'progress', message: task })
      },
    },
  )
  await appendFile(file, `${finished.stdout}${finished.stderr}# ${describeExit(finished.exit)}\n`)
  return finished
}

function stepFailure(step: RunStep, finished: ProcessResult, log: string) {
  const { exit, stdout, stderr } = finished
  const [tool = ''] = step.command
  if (exit.kind === 'not-started') return missingTool(tool, exit.reason)
  const own = step.checkOutput?.(finished)
  if (own || succeeded(exit) || step.mayFail) return own
  const cause = extractCause(`${stdout}\n${stderr}`)
  if (cause.kind === 'ansible') return failure(ansibleFailed, { ...cause, log }, { exitCode: 1 })
  const command = formatShellCommand(step.command.slice(0, 3).map((word) => path.basename(word)))
  return failure(stageFailed, { command, how: describeExit(exit), cause: cause.cause, log }, { exitCode: 1 })
}
