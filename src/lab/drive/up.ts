/** `lab up`: renders, then runs the chosen stages under the lab's lock. The same call resumes. */

import type { Clock } from '../../clock/clock.ts'
import { Failure } from '../../errors/failure.ts'
import { finding } from '../../errors/finding.ts'
import { unknownNode } from '../../errors/lab-run.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { type Selection, select } from '../../run/selection.ts'
import type { Stage } from '../../run/stage.ts'
import type { MakeSshKey } from '../kolla/passwords.ts'
import { type Rendering, renderInto } from '../render-into.ts'
import { type DriveSettings, stagesOf } from './drive.ts'
import { withLock } from './lock.ts'
import { openMemory, readOnlyMemory } from './state.ts'

export interface UpSettings extends Omit<DriveSettings, 'memory'> {
  readonly selection: Selection
  readonly run: string
  readonly what: string
  readonly sink: EventSink
  readonly clock: Clock
  readonly stop: AbortSignal
  readonly overwrite?: boolean
  readonly makeSshKey?: MakeSshKey
  readonly onRendered?: (rendering: Rendering) => void
}

export async function labUp(settings: UpSettings): Promise<RunReport> {
  const { lab, folder, selection, clock, overwrite = false, makeSshKey } = settings
  // A misspelt word is refused before keys are made and files are written.
  chosenStages({ ...settings, memory: await readOnlyMemory(folder) }, selection)
  return withLock(folder, async () => {
    const rendering = await renderInto(lab, folder, {
      now: clock.now(),
      overwrite,
      ...(makeSshKey && { makeSshKey }),
    })
    settings.onRendered?.(rendering)
    const memory = await openMemory(folder)
    const stages = chosenStages({ ...settings, memory }, selection)
    const { run, what, sink, stop } = settings
    return runStages({ run, what, stages, sink, clock, stop })
  })
}

/** The stages that the options choose; a stage or a node that the lab does not have ends it here. */
export function chosenStages(settings: DriveSettings, selection: Selection): readonly Stage[] {
  const { stages, findings } = select(stagesOf(settings), selection)
  const known = settings.lab.nodes.map((node) => node.name)
  const strangers = (settings.replace ?? []).filter((node) => !known.includes(node))
  const wrong = [...findings, ...strangers.map((node) => finding(unknownNode, { node, known }))]
  if (wrong.length > 0) throw new Failure(wrong, 2)
  return stages
}
