/** A lab driven with stand-ins, for tests: its own folder, its own tools, and what they were called with. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeAll, beforeEach, vi } from 'vitest'
import { systemClock } from '../src/clock/clock.ts'
import { runProcess } from '../src/exec/process.ts'
import { createDriveContext } from '../src/lab/drive/driver.ts'
import { openStateStore } from '../src/lab/drive/state.ts'
import { runLabUp } from '../src/lab/drive/up.ts'
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
  readonly again?: readonly string[]
}

const SECRETS = [
  'kolla/certificates',
  'kolla/config/nova/nova-libvirt',
  'kolla/passwords.yml',
  'ssh/id_ed25519',
  'ssh/id_ed25519.pub',
]

/** Document 004's lab with Ceph beside LVM. */
export const lvmAndCephLab = (changes: Readonly<Record<string, unknown>> = {}): Lab =>
  labWith(changes, { phase: 'both' })

export function createLabRig() {
  // A run starts dozens of small programs: on a busy machine they take their time.
  vi.setConfig({ testTimeout: 180_000 })
  let made = ''
  let firstEvents: readonly RunEvent[] = []
  const rig = { base: '', folder: '', tools: undefined as unknown as FakeTools, events: [] as RunEvent[] }

  beforeAll(async () => {
    made = mkdtempSync(path.join(tmpdir(), 'stackloom-drive-'))
    // One place for all tests of a file: a tree and its tools know where they stand.
    rig.base = path.join(made, 'base')
    rig.folder = path.join(rig.base, 'osl')
    await renderLab(lvmAndCephLab(), path.join(made, 'secrets'), { now: Date.now(), makeSshKey: generateSmallKey })
    return () => rmSync(made, { recursive: true })
  })
  beforeEach(() => {
    rig.tools = createFakeTools(rig.base, rig.folder)
    rig.events = []
    // The secrets of every test are the same: making keys is what takes time.
    for (const part of SECRETS)
      cpSync(path.join(made, 'secrets', part), path.join(rig.folder, part), { recursive: true })
  })
  afterEach(() => rmSync(rig.base, { recursive: true }))

  const up = (lab: Lab, { replace = [], env = {}, from, until, system = 'darwin', again = [] }: RigRunOptions = {}) =>
    runLabUp({
      lab,
      folder: rig.folder,
      system,
      env: { ...rig.tools.env, ...env },
      exec: runProcess,
      replace,
      rerun: again,
      retry: { tries: 2, everyMs: 1 },
      selection: { ...(from && { from: [from] }), ...(until && { until: [until] }) },
      run: 'r1',
      what: 'lab up',
      sink: (event) => rig.events.push(event),
      clock: systemClock,
      stop: neverAborted(),
      makeSshKey: generateSmallKey,
    })

  const copied = (from: string, to: string): void => cpSync(from, to, { recursive: true, verbatimSymlinks: true })

  return Object.assign(rig, {
    up,
    /** What the first run of the lab leaves, events and calls included. It runs once for all tests of a file. */
    deployed: async (): Promise<void> => {
      const kept = path.join(made, 'deployed')
      if (existsSync(kept)) {
        rmSync(rig.base, { recursive: true })
        copied(kept, rig.base)
        rig.events = [...firstEvents]
      } else {
        await up(lvmAndCephLab())
        firstEvents = [...rig.events]
        copied(rig.base, kept)
      }
    },
    context: async (lab: Lab, { system = 'darwin', env = {} }: Pick<RigRunOptions, 'system' | 'env'> = {}) => {
      const { folder, tools } = rig
      const memory = await openStateStore(folder)
      return createDriveContext({ lab, folder, system, env: { ...tools.env, ...env }, exec: runProcess, store: memory })
    },
    /** What the tools were called with during some work. */
    since: async (work: () => Promise<unknown>): Promise<readonly string[]> => {
      rig.tools.clearCalls()
      await work()
      return rig.tools.calls()
    },
    findings: () => rig.events.flatMap((event) => (event.kind === 'finding' ? [event.finding] : [])),
    /** Each disk says when it was born: the same words later mean the same disk. */
    births: (): Readonly<Record<string, string>> => {
      const home = path.join(rig.base, 'lima')
      const files = (readdirSync(home, { recursive: true }) as string[]).filter((file) => /d(iff|ata)disk$/.test(file))
      return Object.fromEntries(files.map((file) => [file, readFileSync(path.join(home, file), 'utf8')]))
    },
  })
}

export const outcomes = (report: RunReport) =>
  Object.fromEntries(report.stages.map((stage) => [stage.name, stage.outcome]))
