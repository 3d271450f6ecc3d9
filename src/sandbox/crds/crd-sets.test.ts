import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import type { Failure } from '../../errors/failure.ts'
import type { Exec } from '../../exec/process.ts'
import type { BuildContext } from '../build/ensure-programs.ts'
import type { Notice } from '../sandbox-context.ts'
import type { CrdPins } from './crd-modules.ts'
import { ensureCrds } from './crd-sets.ts'

const module = (name: string, sets: readonly string[]) => ({
  module: `example.org/${name}`,
  version: 'v1.0.0',
  sum: `h1:${name}`,
  files: 'crds/*.yaml',
  sets,
})
const pins: CrdPins = { modules: [module('pools', ['today', '2023', 'none']), module('clouds', ['today'])] }
const crdText = (name: string) => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${name}
  creationTimestamp: null
spec:
  group: example.org
status: {}
`

let root: string
let notes: Notice[]
let downloads: number
/** A Go tool that unpacks what the test wrote. */
const fakeGo =
  (sums: Readonly<Record<string, string>> = {}): Exec =>
  async ({ args = [], cwd = '' }) => {
    downloads += 1
    const found = args.filter((word) => word.includes('@'))
    const lines: string[] = []
    for (const versioned of found) {
      const [name = '', version] = versioned.split('@')
      const short = path.basename(name)
      const dir = path.join(cwd, 'mod', short)
      await mkdir(path.join(dir, 'crds'), { recursive: true })
      await writeFile(path.join(dir, 'crds', 'one.yaml'), crdText(`${short}.example.org`))
      await writeFile(path.join(dir, 'crds', 'notes.txt'), 'not a CRD')
      lines.push(
        JSON.stringify({ Path: name, Version: version, Sum: sums[short] ?? `h1:${short}`, Dir: dir }, null, '\t'),
      )
    }
    return { exit: { kind: 'exited', code: 0 }, stdout: `${lines.join('\n')}\n`, stderr: '', ms: 1 }
  }
const contextWith = (exec: Exec): BuildContext => ({
  paths: { pins: '', cache: root, sandboxes: '' },
  env: {},
  exec,
  notify: (note) => notes.push(note),
})
const none = async () => ({ ours: [], standIns: [] })
const namesOf = (crds: readonly KubeObject[]) => crds.map((crd) => crd.metadata.name)

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'stackloom-crds-'))
  notes = []
  downloads = 0
})
afterEach(() => rm(root, { recursive: true }))

describe('CRD sets', () => {
  it('contain the pinned CRDs without server fields and are fetched once', async () => {
    const context = contextWith(fakeGo())
    const today = await ensureCrds('today', none, context, pins)
    expect(namesOf(today.crds)).toEqual(['pools.example.org', 'clouds.example.org'])
    expect(today.crds[0]?.metadata).toEqual({ name: 'pools.example.org' })
    expect(today.crds[0]).not.toHaveProperty('status')
    expect(namesOf((await ensureCrds('none', none, context, pins)).crds)).toEqual(['pools.example.org'])
    expect(downloads).toBe(1)
  })

  it('add a placeholder only if upstream has no CRD of the name', async () => {
    const context = contextWith(fakeGo())
    const standIn = (name: string): KubeObject => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: { group: 'a placeholder' },
    })
    const standIns = [standIn('pools.example.org'), standIn('cells.example.org')]
    const { crds } = await ensureCrds('own', async () => ({ ours: [], standIns }), context, pins)
    const groups = crds.map(({ metadata, spec }) => [metadata.name, (spec as { group: string }).group])
    expect(Object.fromEntries(groups)).toEqual({
      'pools.example.org': 'example.org',
      'clouds.example.org': 'example.org',
      'cells.example.org': 'a placeholder',
    })
  })

  it('replace upstream CRDs with own CRDs in the set `own`, under another key', async () => {
    const context = contextWith(fakeGo())
    const own: KubeObject = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'clouds.example.org', labels: { ours: 'yes' } },
    }
    const today = await ensureCrds('today', async () => ({ ours: [own], standIns: [] }), context, pins)
    const ours = await ensureCrds('own', async () => ({ ours: [own], standIns: [] }), context, pins)
    expect(namesOf(ours.crds)).toEqual(namesOf(today.crds))
    expect(ours.crds.at(-1)?.metadata.labels).toEqual({ ours: 'yes' })
    expect(ours.key).not.toBe(today.key)
  })

  it('reject a module with a wrong sum and succeed on retry', async () => {
    const wrong = ensureCrds('today', none, contextWith(fakeGo({ clouds: 'h1:evil' })), pins)
    const failure = (await wrong.catch((error: unknown) => error)) as Failure
    expect(failure.findings.map(({ code, message }) => [code, message])).toEqual([
      ['SL1204', 'example.org/clouds@v1.0.0 has the sum h1:evil, pinned is h1:clouds'],
    ])
    const again = await ensureCrds('today', none, contextWith(fakeGo()), pins)
    expect(again.crds).toHaveLength(2)
  })

  it('report every module that cannot be fetched', async () => {
    const offline: Exec = async () => ({
      exit: { kind: 'exited', code: 1 },
      stdout: '',
      stderr: 'the proxy is not reachable\n',
      ms: 1,
    })
    const failure = (await ensureCrds('today', none, contextWith(offline), pins).catch(
      (error: unknown) => error,
    )) as Failure
    expect(failure.findings.map(({ code }) => code)).toEqual(['SL1205', 'SL1205'])
    expect(failure.message).toContain('the proxy is not reachable')
  })

  it('are created again when their file is damaged', async () => {
    const context = contextWith(fakeGo())
    const { key } = await ensureCrds('today', none, context, pins)
    await truncate(path.join(root, 'crds', key, 'today.json'), 10)
    expect((await ensureCrds('today', none, context, pins)).crds).toHaveLength(2)
    expect(notes.flatMap((note) => (note.kind === 'finding' ? [note.finding.code] : []))).toEqual(['SL1203'])
  })
})
