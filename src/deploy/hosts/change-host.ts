/**
 * Changes a host of a cloud in stages: for maintenance, or takes it out: Nova schedules nothing on it, its instances leave, its
 * services stop, what the cloud and the cluster have of it is deleted, and the last stage proves that nothing is left.
 *
 * No stage keeps state: each looks at what is left to do, so a run that was killed anywhere goes on when it is repeated.
 */
import { systemClock } from '../../clock/clock.ts'
import { deploymentKind } from '../../hosts/data-plane.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { type Stage, type StageContext, stageId } from '../../run/stage.ts'
import { withCloudFinding } from './cloud-finding.ts'
import type { Step, WatchedHostChange } from './host-change.ts'
import { disableStage, drainStage, enableStage } from './instance-stages.ts'
import { type ProofItem, proofStage } from './prove-removal.ts'
import {
  addressesStage,
  agentsStage,
  computeStage,
  knownHostsStage,
  namesStage,
  nodeSetStage,
  stopStage,
  tidyStage,
} from './removal-stages.ts'

const watchedKinds = [deploymentKind, { apiVersion: 'batch/v1', kind: 'Job' }] as const

export interface ChangeHostOptions extends WatchedHostChange {
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
}

export interface ChangeHostReport extends RunReport {
  readonly proof: readonly ProofItem[]
}

export async function changeHost(options: ChangeHostOptions): Promise<ChangeHostReport> {
  const { view, run, sink, stop } = options
  await view.watch(watchedKinds, { emit: () => undefined, stop, clock: systemClock })
  const proof: ProofItem[] = []
  const stages = chain(options, stagesOf(options, proof))
  const what = formatCommand(options)
  const report = await runStages({ run, what, stages, sink, clock: systemClock, stop })
  return { ...report, proof }
}

/** What resumes the run. */
function formatCommand({ action, host, namespace, drain, isOff }: ChangeHostOptions): string {
  const flags = action === 'remove' ? [...(drain ? ['--drain'] : []), ...(isOff ? ['--off'] : [])] : []
  return ['hosts', action, host, '-n', namespace, ...flags].join(' ')
}

function stagesOf(options: ChangeHostOptions, proof: ProofItem[]): readonly Step[] {
  if (options.action === 'enable') return [enableStage(options)]
  const leave = [disableStage(options), drainStage(options)]
  if (options.action === 'drain') return leave
  return [
    ...leave,
    stopStage(options),
    agentsStage(options),
    computeStage(options),
    nodeSetStage(options),
    addressesStage(options),
    namesStage(options),
    knownHostsStage(options),
    tidyStage(options),
    proofStage(options, proof),
  ]
}

/** Each stage after the one before it; failures of the cloud's API become findings. */
function chain({ cloud }: ChangeHostOptions, steps: readonly Step[]): readonly Stage[] {
  return steps.map(({ name, why, check, work }, index) => {
    const before = steps[index - 1]
    return {
      id: stageId(name, cloud),
      name,
      cloud,
      after: before ? [{ id: stageId(before.name, cloud), why }] : [],
      locks: [],
      ...(check && { check: (context: StageContext) => withCloudFinding(cloud, () => check(context)) }),
      work: (context) => withCloudFinding(cloud, () => work(context)),
    }
  })
}
