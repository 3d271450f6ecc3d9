import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tinyTable, writeTinyPin } from '../../../test/tiny-pin.ts'
import { hasTool } from '../../../test/tools.ts'
import type { Failure } from '../../errors/failure.ts'
import { type Exec, runProcess } from '../../exec/process.ts'
import { executableName } from '../programs.ts'
import type { Notice } from '../sandbox-context.ts'
import { type BuildContext, ensurePins, isBuilt } from './ensure-programs.ts'

let root: string
let source: string
let context: BuildContext
let notes: Notice[]
const codes = () => notes.flatMap((note) => (note.kind === 'finding' ? [note.finding.code] : []))
const announced = () => notes.flatMap((note) => (note.kind === 'announcement' ? [note.text] : []))
const ensure = (more: Partial<BuildContext> = {}) => ensurePins(['hello'], tinyTable, { ...context, ...more })
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: Failure) => ({ code: error.findings?.[0]?.code, exitCode: error.exitCode, message: error.message }),
  )
const noGo: Exec = async (program) => ({
  exit: { kind: 'not-started', reason: `spawn ${program.file} ENOENT`, missing: true },
  stdout: '',
  stderr: '',
  ms: 0,
})

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'stackloom-build-'))
  source = await writeTinyPin(path.join(root, 'pins'))
})
afterAll(() => rm(root, { recursive: true }))

beforeEach(async (test) => {
  if (!hasTool('go')) test.skip('Go is not installed')
  notes = []
  context = {
    paths: { pins: path.join(root, 'pins'), cache: path.join(root, 'cache'), sandboxes: '', releases: '' },
    env: {},
    exec: runProcess,
    notify: (note) => notes.push(note),
  }
})

describe('a program of the sandbox', () => {
  it('is built once, with progress and one announcement', async () => {
    const { hello } = await ensure()
    expect((await runProcess({ file: hello })).stdout).toBe('hello\n')
    expect(announced()).toHaveLength(1)
    expect(announced()[0]).toMatch(/^Building hello from pinned sources .* because/)
    const counts = notes.filter((note) => note.kind === 'progress').filter((note) => note.total !== undefined)
    expect(counts.length).toBeGreaterThan(1)
    expect(counts.at(-1)?.done).toBe(counts.at(-1)?.total)
    const commands: string[] = []
    const spy: Exec = (program, options) => {
      commands.push((program.args ?? [])[0] ?? '')
      return runProcess(program, options)
    }
    expect(await ensure({ exec: spy })).toEqual({ hello })
    expect(commands).toEqual(['env'])
  })

  it('is built again with a finding when its file was truncated or changed', async () => {
    const { hello } = await ensure()
    await truncate(hello, 12)
    await ensure()
    expect(codes()).toEqual(['SL1203'])
    const { size } = await stat(hello)
    await writeFile(hello, Buffer.alloc(size, 7), { mode: 0o755 })
    await ensure()
    expect(codes()).toEqual(['SL1203', 'SL1203'])
    expect((await runProcess({ file: hello })).stdout).toBe('hello\n')
  })

  it('is built again when its folder is damaged', async () => {
    const { hello } = await ensure()
    await rm(path.dirname(hello), { recursive: true })
    await writeFile(path.dirname(hello), 'rubbish')
    await ensure()
    await writeFile(path.join(path.dirname(hello), 'manifest.json'), '{')
    await ensure()
    expect(codes()).toEqual(['SL1203', 'SL1203'])
    expect((await runProcess({ file: hello })).stdout).toBe('hello\n')
  })

  it('is missing after an interrupted build and complete after the next', async () => {
    await rm(context.paths.cache, { recursive: true, force: true })
    const stop = new AbortController()
    const interrupted = ensure({ signal: stop.signal, notify: (note) => note.kind === 'announcement' && stop.abort() })
    expect(await failureOf(interrupted)).toMatchObject({ code: 'SL1202', exitCode: 130 })
    const cacheFolder = path.join(context.paths.cache, 'programs')
    expect((await readdir(cacheFolder)).filter((name) => !name.startsWith('.'))).toEqual([])
    // What a kill -9 leaves behind:
    await mkdir(path.join(cacheFolder, '.tiny-cut0ff'))
    const { hello } = await ensure()
    expect(announced()[0]).toMatch(/^Continuing/)
    expect((await readdir(cacheFolder)).filter((name) => name.startsWith('.'))).toEqual([])
    expect((await runProcess({ file: hello })).stdout).toBe('hello\n')
  })

  it('is built once for two concurrent requests', async () => {
    await rm(context.paths.cache, { recursive: true, force: true })
    const [first, second] = await Promise.all([ensure(), ensure()])
    expect(first).toEqual(second)
    expect(announced()).toHaveLength(1)
  })

  it('reports the compiler error when the build fails', async () => {
    const good = await readFile(source, 'utf8')
    await rm(context.paths.cache, { recursive: true, force: true })
    await writeFile(source, 'package main\n\nfunc main() { undefined() }\n')
    const failed = await failureOf(ensure())
    await writeFile(source, good)
    expect(failed?.code).toBe('SL1201')
    expect(failed?.message).toContain('undefined: undefined')
    await ensure()
  })

  it('needs no Go when it is already built', async () => {
    const { hello } = await ensure()
    expect(await ensure({ exec: noGo })).toEqual({ hello })
    await rm(context.paths.cache, { recursive: true, force: true })
    expect(await failureOf(ensure({ exec: noGo }))).toMatchObject({ code: 'SL1200' })
  })

  it('is known to be built before anything asks for it', async () => {
    await rm(context.paths.cache, { recursive: true, force: true })
    expect(await isBuilt('hello', tinyTable, context)).toBe(false)
    await ensure()
    expect(await isBuilt('hello', tinyTable, context)).toBe(true)
    expect(await isBuilt('hello', tinyTable, { ...context, exec: noGo })).toBe(true)
  })

  it('is built again when a source file of its pin changes', async () => {
    const { hello } = await ensure()
    const own = path.join(context.paths.pins, 'tiny', 'own.go')
    await writeFile(own, 'package tiny\n')
    const changed = await ensure()
    await rm(own)
    expect(changed.hello).not.toBe(hello)
    expect(await ensure()).toEqual({ hello })
  })

  it('comes from KUBEBUILDER_ASSETS if set, and reports a missing file', async () => {
    const assets = path.join(root, 'assets')
    await mkdir(assets)
    const env = { KUBEBUILDER_ASSETS: assets }
    expect(await failureOf(ensure({ env }))).toMatchObject({ code: 'SL1216' })
    await writeFile(path.join(assets, 'hello'), '#!/bin/sh\n', { mode: 0o755 })
    expect(await ensure({ env })).toEqual({ hello: path.join(assets, 'hello') })
  })
})

it('executableName returns the name that go build uses', () => {
  expect(['go.etcd.io/etcd/server/v3', 'k8s.io/kubernetes/cmd/kubectl'].map(executableName)).toEqual([
    'server',
    'kubectl',
  ])
})
