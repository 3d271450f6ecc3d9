/** `lab up`: renders, then runs the chosen stages under the lab's lock. The same call resumes. */

import type { Clock } from '../../clock/clock.ts'
import { Failure } from '../../errors/failure.ts'
import { finding } from '../../errors/finding.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { type Selection, selectStages } from '../../run/selection.ts'
import type { Stage } from '../../run/stage.ts'
import { unknownNode } from '../findings/lab-run.ts'
import type { GenerateSshKey } from '../kolla/passwords.ts'
import { type RenderResult, renderLab } from '../render-lab.ts'
import { createStages, type DriveSettings } from './driver.ts'
import { withLabLock } from './lock.ts'
import { openReadOnlyState, openStateStore } from './state.ts'

export interface UpSettings extends Omit<DriveSettings, 'store'> {
  readonly selection: Selection
  readonly run: string
  readonly what: string
  readonly sink: EventSink
  readonly clock: Clock
  readonly stop: AbortSignal
  readonly overwrite?: boolean
  readonly makeSshKey?: GenerateSshKey
  readonly onRendered?: (rendering: RenderResult) => void
}

export async function runLabUp(settings: UpSettings): Promise<RunReport> {
  const { lab, folder, selection, clock, overwrite = false, makeSshKey } = settings
  // A misspelt word is refused before keys are made and files are written.
  chosenStages({ ...settings, store: await openReadOnlyState(folder) }, selection)
  return withLabLock(folder, async () => {
    const rendering = await renderLab(lab, folder, {
      now: clock.now(),
      overwrite,
      ...(makeSshKey && { makeSshKey }),
    })
    settings.onRendered?.(rendering)
    const memory = await openStateStore(folder)
    const stages = chosenStages({ ...settings, store: memory }, selection)
    const { run, what, sink, stop } = settings
    return runStages({ run, what, stages, sink, clock, stop })
  })
}

/** The stages that the options choose; a stage or a node that the lab does not have ends it here. */
export function chosenStages(settings: DriveSettings, selection: Selection): readonly Stage[] {
  const { stages, findings } = selectStages(createStages(settings), selection)
  const known = settings.lab.nodes.map((node) => node.name)
  const strangers = (settings.replace ?? []).filter((node) => !known.includes(node))
  const wrong = [...findings, ...strangers.map((node) => finding(unknownNode, { node, known }))]
  if (wrong.length > 0) throw new Failure(wrong, 2)
  return stages
}
