/** Puts the controller of runs together with the executor that was chosen. */
import path from 'node:path'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Runtime } from '../../kube/runtime.ts'
import { type AnsibleRun, ansibleRuns } from '../kinds/ansible-run.ts'
import { defaultRunSettings } from './decide-attempt.ts'
import { jobExecutor, jobWatch } from './jobs/job-executor.ts'
import { localExecutor } from './local/local-executor.ts'
import { runController, runIndexes } from './run-controller.ts'

/** `jobs`: pods of the cluster. `local`: processes of the operator's machine. */
export type ExecutorKind = 'jobs' | 'local'

export interface RunsOptions {
  readonly runtime: Runtime
  readonly record: (happening: EventRecord) => void
  readonly executor: ExecutorKind
  readonly env: Readonly<Record<string, string | undefined>>
  /** After so long an attempt is ended; an hour unless said. */
  readonly timeLimitMs?: number
}

export function startRunController({ runtime, record, executor: way, env, ...options }: RunsOptions): void {
  const { client } = runtime
  const { timeLimitMs = defaultRunSettings.timeLimitMs } = options
  const settings = { ...defaultRunSettings, timeLimitMs }
  let wake = (_key: string): void => {}
  const executor =
    way === 'jobs'
      ? jobExecutor({ client, timeLimitMs })
      : localExecutor({ folder: runsFolder(env), timeLimitMs, onEnded: (key) => wake(key) })
  const runs = runtime.cache<AnsibleRun>({ kind: ansibleRuns }, runIndexes)
  const watches = way === 'jobs' ? [jobWatch] : []
  wake = runtime.add(runController({ client, runs, executor, settings, record, watches })).enqueue
}

function runsFolder(env: Readonly<Record<string, string | undefined>>): string {
  const state = env['XDG_STATE_HOME'] || path.join(env['HOME'] ?? '/', '.local', 'state')
  return path.join(state, 'stackloom', 'runs')
}
