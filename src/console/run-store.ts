/**
 * Knows the runs of this user: reads their records, follows those that grow, and folds their events.
 *
 * Keeps the fold of each run, not its events: these are read from the file when a page asks for them.
 */
import {
  closeSync,
  constants,
  type FSWatcher,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  watch,
} from 'node:fs'
import path from 'node:path'
import type { Clock } from '../clock/clock.ts'
import { isRunning } from '../files/process-alive.ts'
import type { RunEvent } from '../run/events.ts'
import { parseEventLine } from '../run/parse-event.ts'
import { parseRecordName } from '../run/run-record.ts'
import { applyEvent, createRunView, type RunView } from '../run/run-view.ts'
import type { KnownRun } from './views/runs.ts'

export interface RunStore {
  /** The newest first. */
  readonly runs: () => readonly KnownRun[]
  readonly find: (id: string) => KnownRun | undefined
  /** Up to `count` events from this index on. */
  readonly events: (id: string, from: number, count: number) => readonly RunEvent[] | undefined
  readonly close: () => void
}

export interface RunStoreOptions {
  /** Where runs of this user are recorded. */
  readonly folder: string | undefined
  /** Files that were given. */
  readonly files: readonly string[]
  readonly clock: Clock
  readonly onEvents: (id: string, from: number, events: readonly RunEvent[]) => void
}

interface Followed {
  readonly id: string
  readonly file: string
  readonly pid: number | undefined
  readonly view: RunView
  readonly splitLines: (bytes: Buffer) => readonly string[]
  offset: number
  count: number
}

/** A watch of the folder is only a hint: some file systems have none. */
const POLL_MS = 250
const CHUNK = 1 << 20
/** The first event of a run lists its stages; every other one is shorter. */
const MAX_LINE = 4 << 20
const MAX_RUNS = 50

export function openRunStore({ folder, files, clock, onEvents }: RunStoreOptions): RunStore {
  const followed = new Map<string, Followed>()
  const follow = (id: string, file: string, pid: number | undefined): void => {
    if (followed.has(id)) return
    followed.set(id, { id, file, pid, view: createRunView(), splitLines: createLineSplitter(), offset: 0, count: 0 })
  }
  for (const file of files) follow(path.basename(file, '.jsonl'), file, undefined)

  const refresh = (): void => {
    for (const name of listRecords(folder))
      follow(name, path.join(folder ?? '', `${name}.jsonl`), parseRecordName(name)?.pid)
    for (const run of followed.values()) {
      if (run.view.outcome !== undefined) continue
      readNewEvents(run, (from, events) => onEvents(run.id, from, events))
    }
  }
  refresh()
  const end = new AbortController()
  const watcher = watchFolder(folder, refresh)
  const poll = async (): Promise<void> => {
    while (!end.signal.aborted) {
      await clock.sleep(POLL_MS, end.signal)
      refresh()
    }
  }
  void poll().catch(() => undefined)

  const toKnownRun = ({ id, pid, view, count }: Followed): KnownRun => ({
    id,
    source: pid === undefined ? 'recorded' : 'live',
    view,
    events: count,
    isAlive: pid !== undefined && isRunning(pid),
  })
  return {
    runs: () =>
      [...followed.values()]
        .filter(({ count }) => count > 0)
        .toSorted((a, b) => b.view.startedAt - a.view.startedAt)
        .map(toKnownRun),
    find: (id) => {
      const run = followed.get(id)
      return run && run.count > 0 ? toKnownRun(run) : undefined
    },
    events: (id, from, count) => {
      const run = followed.get(id)
      return run && readEvents(run.file, from, count)
    },
    close: () => {
      end.abort()
      watcher?.close()
    },
  }
}

function listRecords(folder: string | undefined): readonly string[] {
  if (folder === undefined) return []
  try {
    const names = readdirSync(folder).map((name) => name.replace(/\.jsonl$/, ''))
    return names.filter(parseRecordName).sort().slice(-MAX_RUNS)
  } catch {
    return []
  }
}

function watchFolder(folder: string | undefined, changed: () => void): FSWatcher | undefined {
  if (folder === undefined) return undefined
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return watch(folder, { persistent: false }, changed).on('error', () => undefined)
  } catch {
    return undefined
  }
}

/** Reads what was appended since the last time and folds it, a part at a time: a record may be larger than the memory. */
function readNewEvents(run: Followed, publish: (from: number, events: readonly RunEvent[]) => void): void {
  readFrom(run.file, run.offset, (bytes) => {
    run.offset += bytes.length
    const events = run.splitLines(bytes).flatMap((line) => parseEventLine(line) ?? [])
    for (const event of events) applyEvent(run.view, event)
    const from = run.count
    run.count += events.length
    if (events.length > 0) publish(from, events)
    return run.view.outcome === undefined
  })
}

function readEvents(file: string, from: number, count: number): readonly RunEvent[] {
  const found: RunEvent[] = []
  const splitLines = createLineSplitter()
  let index = 0
  readFrom(file, 0, (bytes) => {
    for (const event of splitLines(bytes).flatMap((line) => parseEventLine(line) ?? [])) {
      if (index >= from && found.length < count) found.push(event)
      index += 1
    }
    return found.length < count
  })
  return found
}

/** Keeps the begin of a line until its end is there; a line that is too long for an event is dropped. */
function createLineSplitter(): (bytes: Buffer) => readonly string[] {
  let pieces: Buffer[] = []
  let length = 0
  const keep = (piece: Buffer): void => {
    length += piece.length
    if (length <= MAX_LINE) pieces.push(piece)
    else pieces = []
  }
  return (bytes) => {
    const lines: string[] = []
    let start = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      keep(bytes.subarray(start, end))
      if (length <= MAX_LINE) lines.push(Buffer.concat(pieces).toString('utf8'))
      pieces = []
      length = 0
      start = end + 1
    }
    keep(bytes.subarray(start))
    return lines
  }
}

/** Calls with each part until the end, or until the result is false. A file that is gone has no parts. */
function readFrom(file: string, offset: number, use: (bytes: Buffer) => boolean): void {
  let descriptor: number | undefined
  try {
    // Opening a named pipe would wait for a writer, and stop the whole program.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    const status = fstatSync(descriptor)
    const size = status.isFile() ? status.size : 0
    for (let position = offset; position < size; ) {
      const buffer = Buffer.alloc(Math.min(CHUNK, size - position))
      const length = readSync(descriptor, buffer, 0, buffer.length, position)
      if (length === 0 || !use(buffer.subarray(0, length))) return
      position += length
    }
  } catch {
    // It was deleted or cannot be read: there is nothing new.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
