/** `lab up`: renders, then runs the chosen stages under the lab's lock. The same call resumes. */

import type { Clock } from '../../clock/clock.ts'
import { Failure } from '../../errors/failure.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { type Selection, select } from '../../run/selection.ts'
import type { MakeSshKey } from '../kolla/passwords.ts'
import { type Rendering, renderInto } from '../render-into.ts'
import { type DriveSettings, stagesOf } from './drive.ts'
import { withLock } from './lock.ts'
import { openMemory } from './state.ts'

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
  return withLock(folder, async () => {
    const rendering = await renderInto(lab, folder, {
      now: clock.now(),
      overwrite,
      ...(makeSshKey && { makeSshKey }),
    })
    settings.onRendered?.(rendering)
    const memory = await openMemory(folder)
    const { stages, findings } = select(stagesOf({ ...settings, memory }), selection)
    if (findings.length > 0) throw new Failure(findings, 2)
    const { run, what, sink, stop } = settings
    return runStages({ run, what, stages, sink, clock, stop })
  })
}
