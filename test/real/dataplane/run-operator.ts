/** Runs the run controller with the local executor, for a test's cluster and nodes. */

import { defaultRunSettings, type RunSettings } from '../../../src/dataplane/execution/decide-attempt.ts'
import { localExecutor } from '../../../src/dataplane/execution/local/local-executor.ts'
import { defaultRunDelays, runController, runIndexes } from '../../../src/dataplane/execution/run-controller.ts'
import { safeRunPolicy } from '../../../src/dataplane/execution/run-policy.ts'
import { type AnsibleRun, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../../../src/dataplane/kinds/data-plane.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { EventRecord } from '../../../src/kube/event-recorder.ts'
import { createRuntime } from '../../../src/kube/runtime.ts'

export interface RunOperatorOptions {
  readonly client: KubeClient
  readonly folder: string
  readonly enter: readonly string[]
  readonly settings?: Partial<RunSettings>
  readonly record?: (event: EventRecord) => void
  /** Whether the cluster serves nodes, which record the keys of hosts. */
  readonly hasNodes?: boolean
}

/** Shorter than those of the product. */
const delays = { ...defaultRunDelays, inputsMs: 300, conflictingRunMs: 500, progressMs: 300, cancelMs: 200 }

/** Runs until the signal fires. */
export function operateRuns(options: RunOperatorOptions, signal: AbortSignal): Promise<unknown> {
  const { client, folder, enter, record = () => {} } = options
  const settings = { ...defaultRunSettings, retryFirstMs: 200, retryMaxMs: 500, ...options.settings }
  const runtime = createRuntime({ client })
  let wake = (_key: string): void => {}
  const executor = localExecutor({
    folder,
    enter,
    timeLimitMs: settings.timeLimitMs,
    guard: runtime.guard,
    onEnded: (key) => wake(key),
  })
  const runs = runtime.cache<AnsibleRun>({ kind: ansibleRuns }, runIndexes)
  const deps = { client: runtime.client, runs, executor, settings, policy: safeRunPolicy, delays, record }
  const nodes = options.hasNodes ? { nodes: runtime.cache<DataPlaneNode>({ kind: dataPlaneNodes }) } : {}
  const controller = runtime.add(runController({ ...deps, ...nodes }))
  wake = controller.enqueue
  return runtime.run(signal)
}
