import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { resolveSandboxPaths } from '../sandbox/sandbox-context.ts'
import { endKept, findKept, parseStartTime, recordKept } from './kept.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-kept-'))
afterAll(() => rmSync(folder, { recursive: true }))
const paths = resolveSandboxPaths({ XDG_STATE_HOME: folder })

describe('a kept rehearsal', () => {
  it('is found until it is ended', async () => {
    const child = spawn('sleep', ['600'])
    const ended = once(child, 'exit')
    await recordKept(paths, { site: 'lab', nodes: ['worker-0'], pid: child.pid ?? 0 })
    expect(await findKept(paths)).toMatchObject({ nodes: ['worker-0'], pid: child.pid })
    expect(await endKept(paths)).toMatchObject({ site: 'lab' })
    expect(await findKept(paths)).toBeUndefined()
    await ended
  })

  it('is gone when another process has its number', async () => {
    await recordKept(paths, { site: 'lab', nodes: [], pid: process.pid })
    const file = path.join(folder, 'stackloom', 'kept-rehearsal.json')
    const record = JSON.parse(readFileSync(file, 'utf8')) as { readonly started: string }
    expect(record.started).toMatch(/^\d+$/)
    await recordKept(paths, { site: 'lab', nodes: [], pid: 2 ** 22 + 1 })
    expect(await findKept(paths)).toBeUndefined()
    expect(await endKept(paths)).toBeUndefined()
  })

  it.each([
    '',
    '{',
    'null',
    '[]',
    '{"pid":-1}',
    '{"pid":0}',
    '{"pid":1,"started":"1"}',
    '{"pid":"1"}',
    '{"pid":1e300}',
  ])('is none, and ends no process, where the record is %j', async (record) => {
    writeFileSync(path.join(folder, 'stackloom', 'kept-rehearsal.json'), record)
    expect(await findKept(paths)).toBeUndefined()
    expect(await endKept(paths)).toBeUndefined()
  })

  it('reads the time of a process whose name has brackets and spaces, and ignores one that has ended', () => {
    const fields = `1 1 1 0 -1 0 98 0 0 0 0 0 0 0 20 0 1 0 3618332 3133440`
    expect(parseStartTime(`7 (a) (b c) S ${fields}`)).toBe('3618332')
    expect(parseStartTime(`7 (sleep) Z ${fields}`)).toBeUndefined()
  })
})
