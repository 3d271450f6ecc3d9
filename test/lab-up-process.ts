/** Runs `lab up` in a process that tests kill. Its arguments are the lab file and the folder of the tree. */
import { readFileSync } from 'node:fs'
import { systemClock } from '../src/clock/clock.ts'
import { runProcess } from '../src/exec/process.ts'
import { runLabUp } from '../src/lab/drive/driver.ts'
import { readLab } from '../src/lab/read-lab.ts'
import { generateSmallKey } from './lab.ts'
import { neverAborted } from './never-aborted.ts'

const [file = '', folder = ''] = process.argv.slice(2)
const { lab } = readLab(readFileSync(file), file)
if (!lab) throw new Error('not a lab file')
const report = await runLabUp({
  lab,
  folder,
  system: 'darwin',
  env: process.env,
  exec: runProcess,
  retry: { tries: 2, everyMs: 1 },
  selection: {},
  run: 'child',
  what: 'lab up',
  sink: () => undefined,
  clock: systemClock,
  stop: neverAborted(),
  makeSshKey: generateSmallKey,
})
process.exitCode = report.outcome === 'done' ? 0 : 1
