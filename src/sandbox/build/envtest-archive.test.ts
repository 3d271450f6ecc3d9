/** The download against a server on loopback: right, wrong sum, cut off, slow, absent. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Exec, runProcess } from '../../exec/process.ts'
import type { ProgramPin } from '../programs.ts'
import type { Notice } from '../sandbox-context.ts'
import { type BuildContext, ensurePins } from './ensure-programs.ts'
import { type EnvtestArchive, ensureArchive, selectArchive } from './envtest-archive.ts'

const root = mkdtempSync(path.join(tmpdir(), 'stackloom-envtest-'))
const file = path.join(root, 'envtest.tar.gz')
let bytes: Buffer
let sha512: string
let server: Server
let notes: Notice[] = []
let context: BuildContext

beforeAll(() => {
  const folder = path.join(root, 'source/controller-tools/envtest')
  mkdirSync(folder, { recursive: true })
  for (const name of ['etcd', 'kube-apiserver', 'kubectl']) {
    writeFileSync(path.join(folder, name), `#!/bin/sh\necho ${name}\n`, { mode: 0o755 })
  }
  execFileSync('tar', ['-czf', file, '-C', path.join(root, 'source'), 'controller-tools'])
  bytes = readFileSync(file)
  sha512 = createHash('sha512').update(bytes).digest('hex')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

beforeEach(() => {
  notes = []
  const cache = mkdtempSync(path.join(root, 'cache-'))
  context = {
    paths: { pins: path.join(root, 'pins'), cache, sandboxes: '', releases: '' },
    env: {},
    exec: runProcess,
    notify: (note) => notes.push(note),
  }
})
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(listener: RequestListener): Promise<EnvtestArchive> {
  server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { version: '1.2.3', platform: 'test', url: `http://127.0.0.1:${port}/envtest.tar.gz`, sha512 }
}

const findings = () => notes.flatMap((note) => (note.kind === 'finding' ? [note.finding] : []))
const cached = () => readdir(path.join(context.paths.cache, 'programs')).catch(() => [])

describe('the envtest archive', () => {
  it('is downloaded once, by its checksum, with an announcement and progress', async () => {
    let requests = 0
    const archive = await serve((_, response) => {
      requests += 1
      response.end(bytes)
    })
    const folder = (await ensureArchive(archive, context)) ?? ''
    expect(execFileSync(path.join(folder, 'kube-apiserver'), { encoding: 'utf8' })).toBe('kube-apiserver\n')
    expect((await readdir(folder)).sort()).toEqual(['etcd', 'kube-apiserver', 'kubectl', 'manifest.json'])
    expect(notes.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['announcement', 'progress']))
    expect(await ensureArchive(archive, context)).toBe(folder)
    expect(requests).toBe(1)
  })

  it.each<readonly [string, RequestListener, RegExp]>([
    ['has another checksum', (_, response) => void response.end(Buffer.concat([bytes, Buffer.from('x')])), /SHA-512/],
    [
      'is cut off',
      (_, response) => {
        response.writeHead(200, { 'content-length': String(bytes.length) })
        response.write(bytes.subarray(0, 100), () => response.destroy())
      },
      /terminated|aborted|closed|hang up/,
    ],
    ['is absent', (_, response) => void response.writeHead(404).end(), /answers 404/],
    [
      'stops in the middle',
      (_, response) => {
        response.writeHead(200, { 'content-length': String(bytes.length) })
        response.write(bytes.subarray(0, 100))
      },
      /no byte came for 0.3 s/,
    ],
    ['never begins', () => undefined, /no byte came for 0.3 s/],
  ])('is not used and leaves nothing behind when it %s', async (_, listener, reason) => {
    const archive = await serve(listener)
    expect(await ensureArchive(archive, context, 300)).toBeUndefined()
    expect(findings().map(({ code, severity }) => [code, severity])).toEqual([['SL1249', 'warning']])
    expect(findings()[0]?.message).toMatch(reason)
    expect(await cached()).toEqual([])
  })

  it('is not used where no server answers', async () => {
    const archive = { version: '1.2.3', platform: 'test', url: 'http://127.0.0.1:9/envtest.tar.gz', sha512 }
    expect(await ensureArchive(archive, context)).toBeUndefined()
    expect(findings().map(({ code }) => code)).toEqual(['SL1249'])
  })

  it('is asked for only where the user allows it, and only for the pinned file', async () => {
    const real = { ...context, paths: { ...context.paths, pins: path.resolve('sandbox') } }
    expect(await selectArchive(real)).toBeUndefined()
    const official = await selectArchive({ ...real, env: { STACKLOOM_ENVTEST: 'official' } })
    expect(official?.url).toMatch(/^https:\/\/.*\/envtest-v\d+\.\d+\.\d+-\w+-\w+\.tar\.gz$/)
    expect(official?.sha512).toMatch(/^[0-9a-f]{128}$/)
    const mirror = await selectArchive({ ...real, env: { STACKLOOM_ENVTEST: 'https://mirror.example.org/k8s' } })
    expect(mirror?.url).toMatch(/^https:\/\/mirror\.example\.org\/k8s\/envtest-v/)
    expect(mirror?.sha512).toBe(official?.sha512)
  })

  it('replaces the build of the programs that it has, and no other way is tried before', async () => {
    const archive = await serve((_, response) => void response.end(bytes))
    const pins = path.join(root, 'pins')
    mkdirSync(path.join(pins, 'etcd'), { recursive: true })
    for (const name of ['go.mod', 'go.sum']) writeFileSync(path.join(pins, 'etcd', name), '')
    const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
    writeFileSync(
      path.join(pins, 'envtest.json'),
      JSON.stringify({ version: '1.2.3', url: '', sha512: { [platform]: sha512 } }),
    )
    const noGo: Exec = (program, options) =>
      program.file === 'go'
        ? Promise.resolve({
            exit: { kind: 'not-started', reason: 'no go', missing: true },
            stdout: '',
            stderr: '',
            ms: 0,
          })
        : runProcess(program, options)
    const table = { etcd: { pin: 'etcd', package: 'x/etcd', asset: 'etcd', archived: 'etcd' } } satisfies Record<
      string,
      ProgramPin
    >
    const env = { STACKLOOM_ENVTEST: new URL('.', archive.url).href }
    const { etcd } = await ensurePins(['etcd'], table, { ...context, env, exec: noGo })
    expect(execFileSync(etcd, { encoding: 'utf8' })).toBe('etcd\n')
  })
})
