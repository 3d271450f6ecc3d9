import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { exampleEvents } from '../../test/console-documents.ts'
import { useFolder } from '../../test/folder.ts'
import { systemClock } from '../clock/clock.ts'
import type { RunEvent } from '../run/events.ts'
import { recordRun, runRecordFolder } from '../run/run-record.ts'
import { openRunStore, type RunStore } from './run-store.ts'

const base = useFolder()
let number = 0
const freshFolder = (): string => path.join(base, `${(number += 1)}`)

let store: RunStore | undefined
afterEach(() => store?.close())

function open(folder: string | undefined, files: readonly string[] = []) {
  const received: RunEvent[] = []
  store = openRunStore({ folder, files, clock: systemClock, onEvents: (_, __, events) => received.push(...events) })
  return { store, received }
}

describe('records of runs', () => {
  it('follow a run while it is written, and end with its outcome', async () => {
    const folder = freshFolder()
    const { store: opened, received } = open(folder)
    const sink = recordRun(() => undefined, folder, Date.now())
    const events = exampleEvents('run', true)
    for (const event of events.slice(0, 10)) sink(event)
    await vi.waitUntil(() => received.length === 10, { timeout: 30_000 })
    expect(opened.runs()[0]).toMatchObject({ source: 'live', isAlive: true, events: 10 })
    for (const event of events.slice(10)) sink(event)
    await vi.waitUntil(() => opened.runs()[0]?.view.outcome === 'failed', { timeout: 30_000 })
    const [run] = opened.runs()
    expect(opened.events(run?.id ?? '', 3, 5)).toEqual(events.slice(3, 8))
  })

  it('call a run whose process is gone not alive', () => {
    const folder = freshFolder()
    const sink = recordRun(() => undefined, folder, Date.now(), 2 ** 22 + 1)
    for (const event of exampleEvents('run', false).slice(0, 3)) sink(event)
    expect(open(folder).store.runs()[0]).toMatchObject({ isAlive: false })
  })

  it('wait for the rest of a line that is half written', async () => {
    const file = path.join(base, 'half.jsonl')
    const [first] = exampleEvents('run', false)
    const line = JSON.stringify(first)
    writeFileSync(file, line.slice(0, 20))
    const { received } = open(undefined, [file])
    expect(received).toEqual([])
    appendFileSync(file, `${line.slice(20)}\nno event\n{}\n`)
    await vi.waitUntil(() => received.length === 1, { timeout: 30_000 })
    expect(received[0]).toEqual(first)
  })

  it('keep the last 50, and never stop a run that cannot be recorded', () => {
    const folder = freshFolder()
    for (let index = 0; index < 55; index += 1) {
      const [event] = exampleEvents(`run-${index}`, false)
      if (event) recordRun(() => undefined, folder, Date.now() + index)(event)
    }
    expect(readdirSync(folder)).toHaveLength(50)
    const file = path.join(base, 'a-file')
    writeFileSync(file, '')
    const seen: RunEvent[] = []
    const sink = recordRun((event) => seen.push(event), path.join(file, 'below'), Date.now())
    for (const event of exampleEvents('run', false)) sink(event)
    expect(seen).toEqual(exampleEvents('run', false))
  })

  it('are in the state folder of the user', () => {
    mkdirSync(base, { recursive: true })
    expect(runRecordFolder({ XDG_STATE_HOME: '/state', HOME: '/home/me' })).toBe('/state/stackloom/runs')
    expect(runRecordFolder({ HOME: '/home/me' })).toBe('/home/me/.local/state/stackloom/runs')
    expect(runRecordFolder({})).toBeUndefined()
  })
})

describe('a record from elsewhere', () => {
  const event = (fields: object): object => ({ time: '2026-01-01T00:00:00Z', run: 'r', ...fields })
  const started = event({ kind: 'run-started', what: 'up', stages: [{ id: 'a', stage: 'a', after: [] }] })

  it.each([
    ['no stages', event({ kind: 'run-started', what: 'up' })],
    ['stages that are none', event({ kind: 'run-started', what: 'up', stages: [null] })],
    [
      'a stage that comes after a number',
      event({ kind: 'run-started', what: 'up', stages: [{ id: 'a', stage: 'a', after: 7 }] }),
    ],
    ['a finding that is none', event({ kind: 'finding', finding: null })],
    [
      'a finding without a remedy',
      event({ kind: 'finding', finding: { code: 'SL1000', severity: 'error', message: 'x' } }),
    ],
    ['an object as reason', event({ kind: 'waiting', stage: 'a', reason: { a: 1 } })],
    ['an outcome that does not exist', event({ kind: 'stage-finished', stage: 'a', outcome: '__proto__', ms: 1 })],
    ['a change that does not exist', event({ kind: 'applied', stage: 'a', change: 'constructor' })],
    ['a text as duration', event({ kind: 'run-finished', outcome: 'done', ms: 'long' })],
    ['no date', { ...event({ kind: 'stage-started', stage: 'a' }), time: 'now' }],
    ['a list', []],
  ])('is shown without an event that has %s', (_, line) => {
    const file = path.join(base, 'elsewhere.jsonl')
    writeFileSync(file, `${JSON.stringify(started)}\n${JSON.stringify(line)}\n`)
    const { store: opened, received } = open(undefined, [file])
    expect(received).toEqual([started])
    expect(opened.find('elsewhere')?.view).toMatchObject({ what: 'up', findings: [] })
    expect(opened.events('elsewhere', 0, 10)).toEqual([started])
  })

  it('is shown without a line that is too long for an event', () => {
    const file = path.join(base, 'long.jsonl')
    writeFileSync(file, `${'['.repeat(40 << 20)}\n${JSON.stringify(started)}\n`)
    expect(open(undefined, [file]).received).toEqual([started])
  })

  it('has at most ten thousand stages, however many it announces', () => {
    const file = path.join(base, 'stages.jsonl')
    const announce = (first: number): string =>
      JSON.stringify({
        ...started,
        stages: Array.from({ length: 6_000 }, (_, n) => ({ id: `${first + n}`, stage: 'a', after: [] })),
      })
    writeFileSync(file, [0, 6_000, 12_000].map((first) => `${announce(first)}\n`).join(''))
    expect(open(undefined, [file]).store.find('stages')?.view.stages.size).toBe(10_000)
  })

  it('is read on after an event that cannot be shown', async () => {
    const file = path.join(base, 'grows.jsonl')
    writeFileSync(file, '{"kind":"run-started","time":"2026-01-01T00:00:00Z","run":"r"}\n')
    const { received } = open(undefined, [file])
    appendFileSync(file, `${JSON.stringify(started)}\n`)
    await vi.waitUntil(() => received.length === 1, { timeout: 30_000 })
  })

  it('may be a named pipe or a device, which has no events', () => {
    const pipe = path.join(base, 'pipe.jsonl')
    execFileSync('mkfifo', [pipe])
    expect(open(undefined, [pipe, '/dev/zero', base]).store.runs()).toEqual([])
  })
})
