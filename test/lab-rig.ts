/** Runs a lab with fake tools, for tests: each test has its own folder and tools, and sees how they were called. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeAll, beforeEach, vi } from 'vitest'
import { systemClock } from '../src/clock/clock.ts'
import { runProcess } from '../src/exec/process.ts'
import { createDriveContext, runLabUp } from '../src/lab/drive/driver.ts'
import { openStateStore } from '../src/lab/drive/state.ts'
import type { Lab } from '../src/lab/lab.ts'
import { renderLab } from '../src/lab/render-lab.ts'
import type { RunReport } from '../src/run/engine.ts'
import type { RunEvent } from '../src/run/events.ts'
import { generateSmallKey, labWith } from './lab.ts'
import { createFakeTools, type FakeTools } from './lab-fake-tools.ts'
import { neverAborted } from './never-aborted.ts'

export interface RigRunOptions {
  readonly replace?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly from?: string
  readonly until?: string
  readonly system?: string
  readonly rerun?: readonly string[]
}

const SECRETS = [
  'kolla/certificates',
  'kolla/config/nova/nova-libvirt',
  'kolla/passwords.yml',
  'ssh/id_ed25519',
  'ssh/id_ed25519.pub',
]

/** The three-node preset with LVM and Ceph. */
export const lvmAndCephLab = (changes: Readonly<Record<string, unknown>> = {}): Lab =>
  labWith(changes, { phase: 'both' })

export function createLabRig() {
  // A run starts dozens of small programs, which is slow on a busy machine.
  vi.setConfig({ testTimeout: 180_000 })
  let root = ''
  let firstEvents: readonly RunEvent[] = []
  const rig = { base: '', folder: '', tools: undefined as unknown as FakeTools, events: [] as RunEvent[] }

  beforeAll(async () => {
    root = mkdtempSync(path.join(tmpdir(), 'stackloom-drive-'))
    // The same folder for all tests of a file, because trees and tools contain its path.
    rig.base = path.join(root, 'base')
    rig.folder = path.join(rig.base, 'osl')
    await renderLab(lvmAndCephLab(), path.join(root, 'secrets'), { now: Date.now(), makeSshKey: generateSmallKey })
    return () => rmSync(root, { recursive: true })
  })
  beforeEach(() => {
    rig.tools = createFakeTools(rig.base, rig.folder)
    rig.events = []
    // All tests share the secrets, because generating keys is slow.
    for (const part of SECRETS)
      cpSync(path.join(root, 'secrets', part), path.join(rig.folder, part), { recursive: true })
  })
  afterEach(() => rmSync(rig.base, { recursive: true }))

  const up = (lab: Lab, { replace = [], env = {}, from, until, system = 'darwin', rerun = [] }: RigRunOptions = {}) =>
    runLabUp({
      lab,
      folder: rig.folder,
      system,
      env: { ...rig.tools.env, ...env },
      exec: runProcess,
      replace,
      rerun,
      retry: { tries: 2, everyMs: 1 },
      selection: { ...(from && { from: [from] }), ...(until && { until: [until] }) },
      run: 'r1',
      what: 'lab up',
      sink: (event) => rig.events.push(event),
      clock: systemClock,
      stop: neverAborted(),
      makeSshKey: generateSmallKey,
    })

  const copyFolder = (from: string, to: string): void => cpSync(from, to, { recursive: true, verbatimSymlinks: true })

  return Object.assign(rig, {
    up,
    /** Restores the result of a first run, events and calls included. The run happens once for all tests of a file. */
    deployed: async (): Promise<void> => {
      const saved = path.join(root, 'deployed')
      if (existsSync(saved)) {
        rmSync(rig.base, { recursive: true })
        copyFolder(saved, rig.base)
        rig.events = [...firstEvents]
      } else {
        await up(lvmAndCephLab())
        firstEvents = [...rig.events]
        copyFolder(rig.base, saved)
      }
    },
    context: async (lab: Lab, { system = 'darwin', env = {} }: Pick<RigRunOptions, 'system' | 'env'> = {}) => {
      const { folder, tools } = rig
      const store = await openStateStore(folder)
      return createDriveContext({ lab, folder, system, env: { ...tools.env, ...env }, exec: runProcess, store })
    },
    /** The calls of tools during `work`. */
    callsDuring: async (work: () => Promise<unknown>): Promise<readonly string[]> => {
      rig.tools.clearCalls()
      await work()
      return rig.tools.calls()
    },
    findings: () => rig.events.flatMap((event) => (event.kind === 'finding' ? [event.finding] : [])),
    /** An id for each disk, which a disk gets when it is created: the same id later means the same disk. */
    diskIds: (): Readonly<Record<string, string>> => {
      const home = path.join(rig.base, 'lima')
      const files = (readdirSync(home, { recursive: true }) as string[]).filter((file) => /d(iff|ata)disk$/.test(file))
      return Object.fromEntries(files.map((file) => [file, readFileSync(path.join(home, file), 'utf8')]))
    },
  })
}

export const outcomes = (report: RunReport) =>
  Object.fromEntries(report.stages.map((stage) => [stage.name, stage.outcome]))
