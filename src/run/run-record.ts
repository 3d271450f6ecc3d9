/**
 * Records the events of runs, one file per run, for the console and for estimates of later runs.
 *
 * A record is a copy: a run never fails because it cannot be written.
 */
import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { EventSink } from './events.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** As the XDG Base Directory Specification says; undefined without a home. */
export function userStateFolder(env: Environment, name: 'runs' | 'probes'): string | undefined {
  const { XDG_STATE_HOME: state, HOME: home } = env
  if (state !== undefined && path.isAbsolute(state)) return path.join(state, 'stackloom', name)
  return home ? path.join(home, '.local', 'state', 'stackloom', name) : undefined
}

export function runRecordFolder(env: Environment): string | undefined {
  return userStateFolder(env, 'runs')
}

/** Older records are deleted. */
const MAX_RECORDS = 50
/** A run that reports this much has a problem that the end of its record would repeat. */
const MAX_BYTES = 64 << 20

/** `20261117T165500123Z-4242`: sorts by time, and has the process that writes it. */
function recordName(now: number, pid: number): string {
  return `${new Date(now).toISOString().replaceAll(/[-:.]/g, '')}-${pid}`
}

export function parseRecordName(name: string): { readonly pid: number } | undefined {
  const pid = /^\d{8}T\d{9}Z-(\d+)$/.exec(name)?.[1]
  return pid === undefined ? undefined : { pid: Number(pid) }
}

/** Passes every event on to `sink`, and appends it to a new record in the folder. */
export function recordRun(sink: EventSink, folder: string | undefined, now: number, pid = process.pid): EventSink {
  if (folder === undefined) return sink
  const file = path.join(folder, `${recordName(now, pid)}.jsonl`)
  let isOpen: boolean | undefined
  let written = 0
  const open = (): boolean => {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(file, '', { mode: 0o600, flag: 'wx' })
      removeOldRecords(folder)
      return true
    } catch {
      return false
    }
  }
  return (event) => {
    isOpen ??= open()
    if (isOpen) {
      try {
        const line = `${JSON.stringify(event)}\n`
        written += line.length
        if (written <= MAX_BYTES || event.kind === 'run-finished') appendFileSync(file, line)
      } catch {
        isOpen = false
      }
    }
    sink(event)
  }
}

function removeOldRecords(folder: string): void {
  const names = readdirSync(folder).filter((name) => parseRecordName(name.replace(/\.jsonl$/, '')))
  for (const name of names.sort().slice(0, -MAX_RECORDS)) rmSync(path.join(folder, name), { force: true })
}
