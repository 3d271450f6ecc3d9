/** Runs the steps of a stage, appends all output to the log of the stage, and quotes the cause of a failure. */
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { formatShellCommand } from '../../errors/shell-words.ts'
import { describeExit, type Exec, type ProcessResult, succeeded, toProgram } from '../../exec/process.ts'
import type { StageContext } from '../../run/stage.ts'
import { ansibleFailed, stageFailed } from '../findings/lab-run.ts'
import { STATE_FOLDER } from '../tree.ts'
import { writeTreeFile } from '../tree-store.ts'
import { extractCause } from './failure-cause.ts'
import type { RunStep, Step } from './stage.ts'
import type { StateStore } from './state.ts'
import { missingTool } from './tools.ts'

export interface StepRunner {
  readonly folder: string
  readonly exec: Exec
  readonly env: Readonly<Record<string, string | undefined>>
  /** Masked in all output. */
  readonly secrets: readonly string[]
  readonly store: StateStore
}

export async function runSteps(
  stage: string,
  steps: readonly Step[],
  runner: StepRunner,
  context: StageContext,
): Promise<void> {
  const log = path.join(runner.folder, STATE_FOLDER, 'logs', `${stage}.log`)
  await mkdir(path.dirname(log), { recursive: true, mode: 0o700 })
  for (const [done, step] of steps.entries()) {
    context.stop.throwIfAborted()
    if (step.kind === 'note') {
      await runner.store.update(step.update)
      continue
    }
    context.emit({ kind: 'progress', message: step.description, done, total: steps.length })
    if (step.kind === 'write') writeTreeFile(step.folder, step.file)
    else await runWithRetry(step, log, runner, context)
  }
}

async function runWithRetry(step: RunStep, log: string, runner: StepRunner, context: StageContext): Promise<void> {
  const { clock, stop, emit } = context
  const { tries, everyMs } = step.retry ?? { tries: 1, everyMs: 0 }
  for (let attempt = 1; ; attempt += 1) {
    const result = await runOnce(step, log, runner, context)
    stop.throwIfAborted()
    const failed = stepFailure(step, result, log)
    if (!failed) return
    if (attempt >= tries) throw failed
    emit({ kind: 'waiting', reason: `${step.description}: not yet (${attempt} of ${tries})` })
    await clock.sleep(everyMs, stop)
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
  await appendFile(log, `$ ${formatShellCommand(step.command)}\n`, { mode: 0o600 })
  const result = await exec(
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
  await appendFile(log, `${result.stdout}${result.stderr}# ${describeExit(result.exit)}\n`)
  return result
}

function stepFailure(step: RunStep, result: ProcessResult, log: string) {
  const { exit, stdout, stderr } = result
  const [tool = ''] = step.command
  if (exit.kind === 'not-started') return missingTool(tool, exit.reason)
  const rejected = step.checkOutput?.(result)
  if (rejected || succeeded(exit) || step.mayFail) return rejected
  const cause = extractCause(`${stdout}\n${stderr}`)
  if (cause.kind === 'ansible') return failure(ansibleFailed, { ...cause, log }, { exitCode: 1 })
  const command = formatShellCommand(step.command.slice(0, 3).map((word) => path.basename(word)))
  return failure(stageFailed, { command, how: describeExit(exit), cause: cause.cause, log }, { exitCode: 1 })
}
