/** What the commands that drive a lab have in common: the tools of this machine, and the lab's memory. */

import { systemClock } from '../../clock/clock.ts'
import { failure } from '../../errors/failure.ts'
import { runProcess } from '../../exec/process.ts'
import { createDriveContext, type DriveSettings } from '../../lab/drive/driver.ts'
import { withLabLock } from '../../lab/drive/lock.ts'
import { runStepsOutsideStages, type StepRunSettings } from '../../lab/drive/maintenance.ts'
import type { DriveContext } from '../../lab/drive/stage.ts'
import { openReadOnlyState, openStateStore } from '../../lab/drive/state.ts'
import type { Step } from '../../lab/drive/step.ts'
import { notRendered } from '../../lab/findings/lab-run.ts'
import { isRendered } from '../../lab/is-rendered.ts'
import type { Io } from '../io.ts'
import type { OpenedLab } from './lab-file.ts'

type Base = Omit<DriveSettings, 'store'>

export function driveSettings({ lab, folder }: OpenedLab, io: Io): Base {
  return { lab, folder, system: process.platform, env: io.env, exec: runProcess }
}

/** For commands that only look: nothing is remembered. */
export async function createReadOnlyContext(opened: OpenedLab, io: Io): Promise<DriveContext> {
  requireRendered(opened)
  const memory = await openReadOnlyState(opened.folder)
  return createDriveContext({ ...driveSettings(opened, io), store: memory })
}

function requireRendered({ folder, displayFolder }: OpenedLab): void {
  if (!isRendered(folder)) throw failure(notRendered, { folder: displayFolder }, { exitCode: 1 })
}

/** Steps that are no stage: told line by line, under the lab's lock. */
export async function runLabSteps(
  name: string,
  opened: OpenedLab,
  io: Io,
  steps: (context: DriveContext) => readonly Step[] | Promise<readonly Step[]>,
): Promise<void> {
  requireRendered(opened)
  const settings = driveSettings(opened, io)
  await withLabLock(opened.folder, async () => {
    const memory = await openStateStore(opened.folder)
    const context = createDriveContext({ ...settings, store: memory })
    const acting: StepRunSettings = {
      folder: opened.folder,
      exec: settings.exec,
      env: { ...io.env, ...context.tools.env },
      memory,
      context: {
        emit: (event) => {
          if (event.kind === 'progress') io.stderr(`${event.message}\n`)
        },
        stop: io.stop,
        clock: systemClock,
      },
    }
    await runStepsOutsideStages(name, await steps(context), acting)
  })
}
