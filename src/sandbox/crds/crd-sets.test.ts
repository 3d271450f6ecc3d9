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
import { locateCrds } from './release-folders.ts'

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
  paths: { pins: '', cache: root, sandboxes: '', releases: path.join(root, 'releases') },
  env: {},
  exec,
  notify: (note) => notes.push(note),
})
const none = async () => ({ ours: [], standIns: [] })
/** Writes CRDs, named `<plural>.<group>`, as the files of a release. */
const addRelease = async (release: string, names: readonly string[]) => {
  const folder = path.join(root, 'releases', release)
  await mkdir(folder, { recursive: true })
  for (const name of names) {
    const text = crdText(name).replace('group: example.org', `group: ${name.slice(name.indexOf('.') + 1)}`)
    await writeFile(path.join(folder, `${name}.yaml`), text)
  }
}
const CONTROL_PLANE = 'openstackcontrolplanes.core.openstack.org'
const failureFor = async (source: string) => {
  const failure = (await ensureCrds(source, none, contextWith(fakeGo()), pins).catch((error) => error)) as Failure
  return failure.findings.map(({ code, message, remedy }) => ({ code, message, remedy }))
}
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

  it('have the CRDs of a release with the pinned CRDs of other programs', async () => {
    await addRelease('18.0-fr6', [CONTROL_PLANE, 'pools.example.org'])
    await addRelease('18.0-fr1', [CONTROL_PLANE, 'rabbitmqs.rabbitmq.openstack.org'])
    const context = contextWith(fakeGo())
    const fr6 = await ensureCrds('18.0-fr6', none, context, pins)
    expect(fr6.set).toBe('18.0-fr6')
    expect(namesOf(fr6.crds).sort()).toEqual(['clouds.example.org', CONTROL_PLANE, 'pools.example.org'])
    expect(fr6.crds.find(({ metadata }) => metadata.name === CONTROL_PLANE)).not.toHaveProperty('status')
    const fr1 = await ensureCrds('18.0-fr1', none, context, pins)
    expect(fr1.key).not.toBe(fr6.key)
    const folder = await ensureCrds(path.join(root, 'releases', '18.0-fr6'), none, context, pins)
    expect(folder).toEqual(fr6)
  })

  it('have no kind of the operators that the release does not have', async () => {
    const operators: CrdPins = { modules: [module('topologies.topology.openstack.org', ['today'])] }
    const go: Exec = async (program) => {
      const result = await fakeGo()(program)
      const dir = path.join(program.cwd ?? '', 'mod', 'topologies.topology.openstack.org', 'crds', 'one.yaml')
      const text = crdText('topologies.topology.openstack.org')
      await writeFile(dir, text.replace('group: example.org', 'group: topology.openstack.org'))
      return result
    }
    await addRelease('18.0-fr1', [CONTROL_PLANE])
    await addRelease('part', ['keystoneapis.keystone.openstack.org'])
    const fr1 = await ensureCrds('18.0-fr1', none, contextWith(go), operators)
    expect(namesOf(fr1.crds)).toEqual([CONTROL_PLANE])
    const part = await ensureCrds('part', none, contextWith(go), operators)
    expect(namesOf(part.crds)).toEqual(['topologies.topology.openstack.org', 'keystoneapis.keystone.openstack.org'])
  })

  it('have in `today` the newest feature release of this machine, or the pinned one', async () => {
    const context = contextWith(fakeGo())
    await addRelease('main', [CONTROL_PLANE])
    await addRelease('18.0-fr1', [CONTROL_PLANE])
    expect((await ensureCrds('today', none, context, pins)).set).toBe('0.6.0')
    await addRelease('18.0-fr9', [CONTROL_PLANE])
    await addRelease('18.0-fr10', [CONTROL_PLANE])
    expect((await ensureCrds('today', none, context, pins)).set).toBe('18.0-fr10')
    expect((await ensureCrds('0.6.0', none, context, pins)).crds).toHaveLength(2)
  })

  it('report a release that this machine does not have, and how to get it', async () => {
    await addRelease('18.0-fr4', [CONTROL_PLANE])
    const releases = path.join(root, 'releases')
    expect(await failureFor('18.0-fr7')).toEqual([
      {
        code: 'SL1222',
        message: `there are no CRDs of 18.0-fr7 in ${releases}; there are: 18.0-fr4`,
        remedy: expect.stringContaining(`(branch 18.0-fr7 of both repositories) to ${releases}/18.0-fr7`),
      },
    ])
    expect(downloads).toBe(0)
  })

  it('report a folder without CRDs and a file that is no YAML', async () => {
    const folder = path.join(root, 'empty')
    await mkdir(folder)
    await writeFile(path.join(folder, 'notes.yaml'), 'kind: Note\n')
    expect(await failureFor(folder)).toMatchObject([
      { code: 'SL1223', message: `cannot read CRDs from ${folder}: it contains no CustomResourceDefinition` },
    ])
    await writeFile(path.join(folder, 'broken.json'), '{')
    expect((await failureFor(folder))[0]?.message).toContain('broken.json')
    expect((await failureFor(path.join(root, 'absent')))[0]?.code).toBe('SL1223')
  })

  it('are located as a set, then as a release, then as a folder', async () => {
    await addRelease('18.0-fr6', [CONTROL_PLANE])
    for (const name of ['none', '18.0-fr6', 'mine']) await mkdir(path.join(root, name))
    const locate = (source: string) => locateCrds(source, root, { releases: path.join(root, 'releases') })
    expect(await locate('none')).toBe('none')
    expect(await locate('18.0-fr6')).toBe('18.0-fr6')
    expect(await locate('mine')).toBe(path.join(root, 'mine'))
    expect(await locate('./18.0-fr6')).toBe(path.join(root, '18.0-fr6'))
    expect(await locate('18.0-fr7')).toBe('18.0-fr7')
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
