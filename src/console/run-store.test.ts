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
