/** Does the steps of a stage: runs, writes, remembers; keeps the output per stage and quotes the cause of a failure. */
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { ansibleFailed, stageFailed } from '../../errors/lab-run.ts'
import { describeEnding, type Exec, type Finished, programOf, succeeded } from '../../exec/process.ts'
import type { StageContext } from '../../run/stage.ts'
import { STATE_FOLDER } from '../tree.ts'
import { writeFileWhole } from '../tree-store.ts'
import { causeOf } from './cause.ts'
import { missingTool } from './missing-tool.ts'
import type { Memory } from './state.ts'
import { type RunStep, type Step, shellLine } from './step.ts'

export interface Performer {
  readonly folder: string
  readonly exec: Exec
  readonly env: Readonly<Record<string, string | undefined>>
  /** Masked in every output. */
  readonly secrets: readonly string[]
  readonly memory: Memory
}

export async function perform(
  stage: string,
  steps: readonly Step[],
  performer: Performer,
  context: StageContext,
): Promise<void> {
  const log = `${STATE_FOLDER}/logs/${stage}.log`
  await mkdir(path.join(performer.folder, `${STATE_FOLDER}/logs`), { recursive: true, mode: 0o700 })
  for (const [done, step] of steps.entries()) {
    context.stop.throwIfAborted()
    if (step.kind === 'note') {
      await performer.memory.change(step.change)
      continue
    }
    context.emit({ kind: 'progress', message: step.say, done, total: steps.length })
    if (step.kind === 'write') writeFileWhole(step.folder, step.file)
    else await runStep(step, log, performer, context)
  }
}

async function runStep(
  step: RunStep,
  log: string,
  performer: Performer,
  context: StageContext,
): Promise<void> {
  const { clock, stop, emit } = context
  const tries = step.patience?.tries ?? 1
  for (let attempt = 1; ; attempt += 1) {
    const finished = await runOnce(step, log, performer, context)
    stop.throwIfAborted()
    const wrong = judged(step, finished, path.join(performer.folder, log))
    if (!wrong) return
    if (attempt >= tries) throw wrong
    emit({ kind: 'waiting', reason: `${step.say}: not yet (${attempt} of ${tries})` })
    await clock.sleep(step.patience?.everyMs ?? 0, stop)
    stop.throwIfAborted()
  }
}

async function runOnce(
  step: RunStep,
  log: string,
  { folder, exec, env, secrets }: Performer,
  { stop, emit }: StageContext,
): Promise<Finished> {
  const input =
    step.inputFile === undefined ? undefined : await readFile(path.join(folder, step.inputFile), 'utf8')
  const file = path.join(folder, log)
  await appendFile(file, `$ ${shellLine(step.words)}\n`, { mode: 0o600 })
  const finished = await exec(
    { ...programOf(step.words), cwd: folder, env, ...(input !== undefined && { input }) },
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
  await appendFile(file, `${finished.stdout}${finished.stderr}# ${describeEnding(finished.ending)}\n`)
  return finished
}

function judged(step: RunStep, finished: Finished, log: string) {
  const { ending, stdout, stderr } = finished
  const [tool = ''] = step.words
  if (ending.kind === 'not-started') return missingTool(tool, ending.reason)
  const own = step.judge?.(finished)
  if (own || succeeded(ending) || step.mayFail) return own
  const cause = causeOf(`${stdout}\n${stderr}`)
  if (cause.kind === 'ansible') return failure(ansibleFailed, { ...cause, log }, { exitCode: 1 })
  const command = shellLine(step.words.slice(0, 3).map((word) => path.basename(word)))
  return failure(
    stageFailed,
    { command, how: describeEnding(ending), cause: cause.cause, log },
    { exitCode: 1 },
  )
}
