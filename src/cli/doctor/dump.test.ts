import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { count } from '../../../test/counts.ts'
import { healthy } from '../../../test/doctor/healthy-cluster.ts'
import { allocationFailed, NOW, requests, service } from '../../../test/doctor/objects.ts'
import { states } from '../../../test/doctor/states.ts'
import { type TestIo, testIo } from '../../../test/io.ts'
import type { KubeObject } from '../../api/object.ts'
import { diagnose } from '../../doctor/diagnose.ts'
import { rules } from '../../doctor/rules.ts'
import { main } from '../main.ts'
import { evidenceKinds } from './gather-evidence.ts'
import { saveDump } from './save-dump.ts'

describe('doctor --from a malformed dump', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'stackloom-doctor-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const put = (name: string, content: string | Uint8Array): void => writeFileSync(path.join(folder, name), content)
  const list = (objects: readonly unknown[]): string =>
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
  const doctor = async (): Promise<{ code: number; io: TestIo }> => {
    const io = testIo()
    return { code: await main(['doctor', '--from', folder], io), io }
  }
  const lost = service('openstack2/lost', { annotations: requests('internalapi') })

  it('reports a truncated file and reads the others', async () => {
    put('a.json', list([...healthy(), lost, allocationFailed(lost, 'unknown pool "internalapi"')]))
    put('b.json', list(healthy()).slice(0, 2_000))
    const { code, io } = await doctor()
    expect(io.err()).toMatch(/b\.json:\d+:\d+: warning SL1123: .*b\.json was skipped/)
    expect(io.out()).toContain('Service openstack2/lost: error SL9501')
    expect(code).toBe(1)
  })

  it('reports a file that is not UTF-8', async () => {
    put('a.json', list(healthy()))
    put('latin.yaml', Buffer.from('kind: caf\xe9\n', 'latin1'))
    const { code, io } = await doctor()
    expect(io.err()).toContain('latin.yaml was skipped: it is not UTF-8 text')
    expect(code).toBe(3)
  })

  it('ignores unknown kinds and files without objects', async () => {
    put('a.json', list([...healthy(), { apiVersion: 'example.com/v7', kind: 'Whatever', metadata: { name: 'x' } }]))
    put('values.yaml', 'replicas: 3\nimage: x\n')
    put('version.json', '"4.16"')
    const { code, io } = await doctor()
    expect(io.out()).toMatch(/^\d+ of \d+ rules could look, and none of these matches/)
    expect(code).toBe(3)
  })

  it('evaluates every rule over a dump that records which kinds were read', async () => {
    const snapshot = { objects: healthy(), unread: [] }
    await saveDump(snapshot, evidenceKinds(rules), folder, testIo())
    const { code, io } = await doctor()
    expect(io.out()).toBe(`no problems found by ${rules.length} rules\n`)
    expect(code).toBe(0)
  })

  it('keeps a kind unknown in a saved dump that could not be read', async () => {
    const objects = healthy().filter(({ kind }) => kind !== 'Pod')
    const unread = [{ apiVersion: 'v1', kind: 'Pod', reason: 'forbidden', cause: 'forbidden' as const }]
    await saveDump({ objects, unread }, evidenceKinds(rules), folder, testIo())
    const { code, io } = await doctor()
    expect(io.out()).toMatch(/not evaluated, because these kinds are unknown:\n {2}Pod\n/)
    expect(code).toBe(3)
  })

  it('exits 2 when the dump contains no cluster objects', async () => {
    put('values.yaml', 'replicas: 3\n')
    put('cut.json', list(healthy()).slice(0, 2_000))
    const { code, io } = await doctor()
    expect(code).toBe(2)
    expect(io.err()).toContain('cut.json was skipped')
    expect(io.err()).toContain(`SL1128: no file in ${folder} has a Kubernetes object`)
  })

  it('handles 100,000 objects', async () => {
    const many = Array.from({ length: 100_000 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `pod-${index}`, namespace: 'elsewhere' },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    }))
    put('pods.json', list(many))
    put('all.json', list([...healthy(), lost]))
    const { code, io } = await doctor()
    expect(io.out()).toContain('Service openstack2/lost: error SL9501')
    expect(code).toBe(1)
  })

  it('never prints values of Secrets', async () => {
    const password = 'aHVudGVyMg=='
    const secrets = ['openstack', 'openstack2'].map((namespace) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'osp-secret', namespace },
      data: { DbRootPassword: password },
    }))
    put('all.json', list([...healthy().filter(({ metadata }) => metadata.name !== 'osp-secret'), ...secrets]))
    const { io } = await doctor()
    expect(io.out()).toContain(
      'Secret openstack/osp-secret: error SL9581: it has no AdminPassword, which keystone reads',
    )
    expect(io.out() + io.err()).not.toContain(password)
  })

  it('accepts objects of any shape', () => {
    const kinds = [
      ...new Map(
        states.flatMap(({ objects }) => objects).map((one) => [`${one.apiVersion} ${one.kind}`, one]),
      ).values(),
    ]
    const odd = fc.jsonValue({ maxDepth: 2 })
    const broken = fc
      .tuple(
        fc.constantFrom(...kinds),
        fc.constantFrom('spec', 'status', 'metadata', 'webhooks', 'data', 'involvedObject', 'deep'),
        odd,
        fc.nat(),
      )
      .map(([object, part, value, seed]): KubeObject => {
        if (part === 'metadata')
          return {
            ...object,
            metadata: {
              ...object.metadata,
              labels: value,
              annotations: value,
              finalizers: value,
              ownerReferences: value,
            } as unknown as KubeObject['metadata'],
          }
        if (part === 'deep') return deepened(object, value, seed)
        return { ...object, [part]: value }
      })
    fc.assert(
      fc.property(fc.array(broken, { maxLength: 12 }), (objects) => {
        const snapshot = { objects: [...healthy(), ...objects], unread: [] }
        expect(diagnose({ snapshot, now: NOW }, rules).findings).toEqual([])
      }),
      { numRuns: count({ test: 60, soak: 3_000 }) },
    )
  })
})

/** Puts an odd value somewhere inside an object. */
function deepened(object: KubeObject, value: unknown, seed: number): KubeObject {
  const copy = structuredClone(object) as unknown as Record<string, unknown>
  let here = copy
  for (let step = seed; ; step = step >> 1) {
    const keys = Object.keys(here).filter((key) => here !== copy || !['apiVersion', 'kind', 'metadata'].includes(key))
    const key = keys[step % Math.max(keys.length, 1)]
    if (key === undefined) return copy as unknown as KubeObject
    const next = here[key]
    if (typeof next !== 'object' || next === null || step % 3 === 0) {
      here[key] = value
      return copy as unknown as KubeObject
    }
    here = next as Record<string, unknown>
  }
}
