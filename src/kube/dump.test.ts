import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadDump, parseDocuments } from './dump.ts'

const pool = { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' }
const service = { apiVersion: 'v1', kind: 'Service' }

const poolYaml = (name: string): string =>
  `apiVersion: metallb.io/v1beta1\nkind: IPAddressPool\nmetadata: {name: ${name}, namespace: metallb-system}\nspec: {addresses: [172.17.0.80/29]}\n`

describe('loadDump', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'stackloom-dump-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const put = (name: string, content: string | Uint8Array): string => {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, content)
    return file
  }
  const names = async (...kinds: Parameters<typeof loadDump>[1] & object): Promise<readonly string[]> =>
    (await loadDump(folder, kinds)).snapshot.objects.map((object) => object.metadata.name)

  it('reads YAML streams, JSON and lists, in nested folders', async () => {
    put('a.yaml', `${poolYaml('a')}---\n${poolYaml('b')}`)
    put('deep/er/c.json', JSON.stringify({ ...pool, metadata: { name: 'c' } }))
    put(
      'list.yml',
      'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: metallb.io/v1beta1, kind: IPAddressPool, metadata: {name: d}}',
    )
    put('notes.txt', 'kind: IPAddressPool')
    expect(await names(pool)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('adds the kind to the items of a typed list, where the API server omits it', async () => {
    put(
      'services.json',
      JSON.stringify({ apiVersion: 'v1', kind: 'ServiceList', items: [{ metadata: { name: 's' } }] }),
    )
    const { snapshot } = await loadDump(folder, [service])
    expect(snapshot.objects).toEqual([{ ...service, metadata: { name: 's' } }])
  })

  it('keeps times and numbers as they are in JSON', async () => {
    put(
      'a.yaml',
      'apiVersion: v1\nkind: Service\nmetadata: {name: s, creationTimestamp: 2026-01-31T00:00:00Z, annotations: {n: "010"}}',
    )
    const { snapshot } = await loadDump(folder)
    expect(snapshot.objects[0]?.metadata).toEqual({
      name: 's',
      creationTimestamp: '2026-01-31T00:00:00Z',
      annotations: { n: '010' },
    })
  })

  it('finds a kind in another version, and omits kinds that were not requested', async () => {
    put(
      'a.yaml',
      `${poolYaml('a').replace('v1beta1', 'v1beta2')}---\n${JSON.stringify({ ...service, metadata: { name: 's' } })}`,
    )
    expect(await names(pool)).toEqual(['a'])
  })

  it('reports the kinds that the dump does not mention; an empty list mentions its kind', async () => {
    put('a.json', JSON.stringify({ apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPoolList', items: null }))
    const { snapshot, findings } = await loadDump(folder, [pool, service])
    expect(snapshot.unread).toEqual([expect.objectContaining({ kind: 'Service', cause: 'not-dumped' })])
    expect(findings.map((finding) => finding.code)).toEqual(['SL1124'])
  })

  it('reports a truncated file with its line and keeps the documents before', async () => {
    const file = put('a.yaml', `${poolYaml('a')}---\n${poolYaml('b').slice(0, -4)}`)
    const { snapshot, findings } = await loadDump(folder, [pool])
    expect(snapshot.objects.map((object) => object.metadata.name)).toEqual(['a'])
    expect(findings).toEqual([
      expect.objectContaining({
        code: 'SL1123',
        severity: 'warning',
        where: expect.objectContaining({ file, line: 9 }),
      }),
    ])
  })

  it('shows none of the content of a broken file: it may be a secret', async () => {
    put('a.json', '{"apiVersion": "v1", "kind": "Secret", "data": {"password": "aHVudGVyMg==", oops')
    put('b.yaml', 'kind: Secret\n  password: hunter2\n')
    const { findings } = await loadDump(folder)
    expect(findings).toHaveLength(2)
    expect(JSON.stringify(findings)).not.toMatch(/hunter2|aHVudGVy/)
  })

  it.each([
    ['a list in itself', '&a [*a]'],
    ['an object in itself', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: &d {x: *d}\n'],
    [
      'aliases that double at each level',
      `- &a0 {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n${Array.from({ length: 60 }, (_, n) => `- &a${n + 1} [*a${n}, *a${n}]\n`).join('')}`,
    ],
    ['many brackets of JSON', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
    ['many brackets without an end', '['.repeat(50_000)],
    ['many dashes', `${'- '.repeat(50_000)}x`],
  ])('reports a document with %s, and keeps the others', async (_, text) => {
    put('a.yaml', text)
    put('b.yaml', poolYaml('b'))
    const { snapshot, findings } = await loadDump(folder)
    expect(snapshot.objects.map((object) => object.metadata.name)).toEqual(['b'])
    expect(findings.map(({ code }) => code)).toEqual(['SL1123'])
  })

  it('reads UTF-16 from PowerShell, and reports what is not text', async () => {
    put('a.yaml', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(poolYaml('wide'), 'utf16le')]))
    put('b.yaml', Buffer.from([0x80, 0x81, 0xfe, 0xff]))
    const { snapshot, findings } = await loadDump(folder, [pool])
    expect(snapshot.objects.map((object) => object.metadata.name)).toEqual(['wide'])
    expect(findings[0]?.message).toContain('not UTF-8')
  })

  it('ignores other files', async () => {
    put('kustomization.yaml', 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]')
    put('values.yaml', 'replicas: 3')
    put('empty.yaml', '')
    put('scalar.yaml', 'hello')
    put('null.json', 'null')
    put('pool.yaml', poolYaml('a'))
    const { snapshot, findings } = await loadDump(folder)
    expect(snapshot.objects.map((object) => object.metadata.name)).toEqual(['a'])
    expect(findings).toEqual([])
  })

  it('uses the later path when an object occurs twice', async () => {
    put('1.yaml', poolYaml('a'))
    put('2.yaml', poolYaml('a').replace('80/29', '96/29'))
    const { snapshot } = await loadDump(folder, [pool])
    expect(snapshot.objects).toEqual([expect.objectContaining({ spec: { addresses: ['172.17.0.96/29'] } })])
  })

  it('reports a folder that does not exist', async () => {
    await expect(loadDump(path.join(folder, 'none'))).rejects.toMatchObject({
      findings: [{ code: 'SL1002' }],
    })
  })

  it('never throws, whatever the bytes are', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constant(poolYaml('a')),
      fc.constantFrom('---\n', '%YAML 1.1\n', '{', '- ', '\t'),
    )
    let reported = 0
    fc.assert(
      fc.property(fc.array(text), fc.nat(), (parts, cut) => {
        const bytes = Buffer.from(parts.join('\n'))
        const { documents, broken } = parseDocuments(bytes.subarray(0, cut % (bytes.length + 1)))
        for (const { line } of broken) expect(line).toBeGreaterThan(0)
        reported += broken.length
        expect(documents.length + broken.length).toBeLessThanOrEqual(bytes.length + 1)
      }),
    )
    expect(reported).toBeGreaterThan(0)
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void parseDocuments(bytes)))
  })
})

describe('a dump without end', { timeout: 120_000 }, () => {
  it('is skipped after its limit, with the reason', async () => {
    const { snapshot, findings } = await loadDump('/dev/zero')
    expect(snapshot.objects).toEqual([])
    expect(findings).toMatchObject([{ code: 'SL1123', message: '/dev/zero was skipped: it has more than 256 MiB' }])
  })
})
