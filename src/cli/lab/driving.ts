/** What the commands that drive a lab have in common: the tools of this machine, and the lab's memory. */

import { systemClock } from '../../clock/clock.ts'
import { failure } from '../../errors/failure.ts'
import { noTree } from '../../errors/lab-run.ts'
import { runProcess } from '../../exec/process.ts'
import { type ActSettings, actSteps } from '../../lab/drive/down.ts'
import { type DriveSettings, driveContext } from '../../lab/drive/drive.ts'
import { withLock } from '../../lab/drive/lock.ts'
import type { DriveContext } from '../../lab/drive/stage.ts'
import { openMemory, readOnlyMemory } from '../../lab/drive/state.ts'
import type { Step } from '../../lab/drive/step.ts'
import { isRendered } from '../../lab/is-rendered.ts'
import type { Io } from '../io.ts'
import type { OpenedLab } from './lab-file.ts'

type Base = Omit<DriveSettings, 'memory'>

export function driveSettings({ lab, folder }: OpenedLab, io: Io): Base {
  return { lab, folder, system: process.platform, env: io.env, exec: runProcess }
}

/** For commands that only look: nothing is remembered. */
export async function lookAt(opened: OpenedLab, io: Io): Promise<DriveContext> {
  refuseUnrendered(opened)
  const memory = await readOnlyMemory(opened.folder)
  return driveContext({ ...driveSettings(opened, io), memory })
}

function refuseUnrendered({ folder, shownFolder }: OpenedLab): void {
  if (!isRendered(folder)) throw failure(noTree, { folder: shownFolder }, { exitCode: 1 })
}

/** Steps that are no stage: told line by line, under the lab's lock. */
export async function act(
  name: string,
  opened: OpenedLab,
  io: Io,
  steps: (context: DriveContext) => readonly Step[] | Promise<readonly Step[]>,
): Promise<void> {
  refuseUnrendered(opened)
  const settings = driveSettings(opened, io)
  await withLock(opened.folder, async () => {
    const memory = await openMemory(opened.folder)
    const context = driveContext({ ...settings, memory })
    const acting: ActSettings = {
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
    await actSteps(name, await steps(context), acting)
  })
}
