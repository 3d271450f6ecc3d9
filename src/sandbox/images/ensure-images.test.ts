import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../../test/folder.ts'
import { sandboxContext } from '../../../test/sandbox-context.ts'
import { runProcess } from '../../exec/process.ts'
import { ensureImage, ensureImages } from './ensure-images.ts'
import type { ImageDefinition } from './image-definition.ts'

const folder = useFolder()
const inFolder = (name: string): string => path.join(folder, name)

/** A context with its own cache, and the programs that were run with it. */
function testContext(cache: string) {
  const { paths, ...rest } = sandboxContext()
  const programs: string[] = []
  const exec: typeof runProcess = (program, options) => {
    programs.push(program.file)
    return runProcess(program, options)
  }
  return { ...rest, exec, programs, paths: { ...paths, cache: inFolder(cache) } }
}

function writeSource(name: string, text: string): string {
  mkdirSync(inFolder(name), { recursive: true })
  writeFileSync(path.join(inFolder(name), 'data.txt'), text)
  writeFileSync(path.join(inFolder(name), 'program'), '#!/bin/sh\n')
  chmodSync(path.join(inFolder(name), 'program'), 0o700)
  return inFolder(name)
}

const smallImage = (from: string): ImageDefinition => ({
  reference: 'localhost/small:1',
  packages: [],
  entries: [
    { kind: 'copy', path: '/opt/small', from, omit: ['left-out'] },
    { kind: 'link', path: '/usr/bin/small', target: '/opt/small/program' },
    { kind: 'text', path: '/etc/passwd', text: 'root:x:0:0:root:/:/bin/sh\n', mode: 0o664 },
    { kind: 'folder', path: '/tmp', mode: 0o1777 },
  ],
  config: { user: '1000', entrypoint: ['/usr/bin/small'], env: { A: 'b' } },
})

describe('an image', () => {
  it('has the same digest for the same content, whatever the times, modes and place of its files', async () => {
    const first = await ensureImage('small', smallImage(writeSource('source', 'one')), testContext('cache-a'))
    cpSync(inFolder('source'), inFolder('elsewhere/source'), { recursive: true })
    utimesSync(inFolder('elsewhere/source/data.txt'), 1, 1)
    chmodSync(inFolder('elsewhere/source/data.txt'), 0o600)
    writeFileSync(inFolder('elsewhere/source/left-out'), 'x')
    const second = await ensureImage('small', smallImage(inFolder('elsewhere/source')), testContext('cache-b'))
    expect(second.digest).toBe(first.digest)
    expect(readFileSync(second.archive)).toEqual(readFileSync(first.archive))
  })

  it('is built once, and again when its content has changed', async () => {
    const context = testContext('cache-c')
    const source = writeSource('changing', 'one')
    const first = await ensureImage('small', smallImage(source), context)
    context.programs.length = 0
    expect(await ensureImage('small', smallImage(source), context)).toEqual(first)
    expect(context.programs).toEqual([])
    writeSource('changing', 'two')
    expect((await ensureImage('small', smallImage(source), context)).digest).not.toBe(first.digest)
  })

  it('is an OCI archive whose documents and layers have the digests by which they are named', async () => {
    const { archive, digest } = await ensureImage(
      'small',
      smallImage(writeSource('oci', 'one')),
      testContext('cache-d'),
    )
    mkdirSync(inFolder('layout'))
    execFileSync('tar', ['-xf', archive, '-C', inFolder('layout')])
    const blob = (name: string): Buffer => {
      const content = readFileSync(inFolder(`layout/blobs/sha256/${name.slice('sha256:'.length)}`))
      expect(`sha256:${createHash('sha256').update(content).digest('hex')}`).toBe(name)
      return content
    }
    const json = (text: Buffer | string): never => JSON.parse(String(text)) as never
    const { manifests }: { manifests: readonly { digest: string; annotations: object }[] } = json(
      readFileSync(inFolder('layout/index.json')),
    )
    expect(manifests).toMatchObject([{ digest, annotations: { 'io.containerd.image.name': 'localhost/small:1' } }])
    const manifest: { config: { digest: string }; layers: readonly { digest: string; size: number }[] } = json(
      blob(digest),
    )
    expect(json(blob(manifest.config.digest))).toMatchObject({
      os: 'linux',
      config: { User: '1000', Entrypoint: ['/usr/bin/small'], Env: expect.arrayContaining(['A=b']) },
      rootfs: { diff_ids: manifest.layers.map((layer) => layer.digest) },
    })
    const [layer = { digest: '', size: 0 }] = manifest.layers
    const tar = blob(layer.digest)
    expect(tar.length).toBe(layer.size)
    const listed = execFileSync('tar', ['-tvf', '-'], { input: tar, encoding: 'utf8' })
    const modes = Object.fromEntries(
      listed
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/))
        .map(([mode, owner, , , , name]) => [name, `${mode} ${owner}`]),
    )
    expect(modes).toMatchObject({
      'etc/passwd': '-rw-rw-r-- 0/0',
      'opt/small/data.txt': '-rw-r--r-- 0/0',
      'opt/small/program': '-rwxr-xr-x 0/0',
      'tmp/': 'drwxrwxrwt 0/0',
      'usr/bin/small': 'lrwxrwxrwx 0/0',
    })
    expect(modes).not.toHaveProperty('opt/small/left-out')
  })

  it('names the packages that this machine does not have', async () => {
    const definition = { ...smallImage(writeSource('unbuilt', '')), packages: ['libc6', 'no-such-package'] }
    const building = ensureImage('small', definition, testContext('cache-e'))
    await expect(building).rejects.toMatchObject({
      findings: [{ code: 'SL1244', remedy: expect.stringContaining('no-such-package') }],
    })
  })

  it('of the operator is refused while the program is not built', async () => {
    const programFolder = inFolder('checkout')
    mkdirSync(programFolder)
    const building = ensureImages(['operator'], { ...testContext('cache-f'), programFolder })
    await expect(building).rejects.toMatchObject({ findings: [{ code: 'SL1245' }] })
  })
})
