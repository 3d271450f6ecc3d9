/** The controller of runs with the local runner, against a test's cluster and a test's nodes. */
import { type AnsibleRun, ansibleRuns } from '../../../src/api/ansibleee.ts'
import {
  defaultRunSettings,
  type RunSettings,
} from '../../../src/controllers/dataplane/runs/decide-attempt.ts'
import { localExecutor } from '../../../src/controllers/dataplane/runs/local/local-executor.ts'
import {
  defaultRunPauses,
  runController,
  runIndexes,
} from '../../../src/controllers/dataplane/runs/run-controller.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { Happening } from '../../../src/kube/events.ts'
import { createRuntime } from '../../../src/kube/runtime.ts'

export interface RunOperatorOptions {
  readonly client: KubeClient
  readonly folder: string
  readonly enter: readonly string[]
  readonly settings?: Partial<RunSettings>
  readonly record?: (happening: Happening) => void
}

/** Impatient where the product waits for people. */
const pauses = { ...defaultRunPauses, inputsMs: 300, rivalMs: 500, progressMs: 300, cancelMs: 200 }

/** Works until the signal fires. */
export function operateRuns(options: RunOperatorOptions, signal: AbortSignal): Promise<unknown> {
  const { client, folder, enter, record = () => {} } = options
  const settings = { ...defaultRunSettings, retryFirstMs: 200, retryMostMs: 500, ...options.settings }
  const runtime = createRuntime({ client })
  let wake = (_key: string): void => {}
  const executor = localExecutor({
    folder,
    enter,
    timeLimitMs: settings.timeLimitMs,
    onEnded: (key) => wake(key),
  })
  const runs = runtime.cache<AnsibleRun>({ kind: ansibleRuns }, runIndexes)
  const controller = runtime.add(
    runController({ client: runtime.client, runs, executor, settings, pauses, record }),
  )
  wake = controller.enqueue
  return runtime.run(signal)
}
