import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { healthy } from '../../../test/doctor/healthy-cluster.ts'
import { allocationFailed, requests, service } from '../../../test/doctor/objects.ts'
import { having } from '../../../test/doctor/state.ts'
import { type TestIo, testIo } from '../../../test/io.ts'
import type { KubeObject } from '../../api/object.ts'
import { writeYaml } from '../../yaml/write.ts'
import { main } from '../main.ts'

describe('stackloom doctor', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'stackloom-doctor-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const dump = (objects: readonly KubeObject[]): void =>
    writeFileSync(path.join(folder, 'all.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
  const doctor = async (...args: readonly string[]): Promise<{ code: number; io: TestIo }> => {
    const io = testIo()
    return { code: await main(['doctor', ...args], io), io }
  }
  const thief = service('openstack2/thief', { annotations: requests('openstack-internalapi') })
  const broken = having(thief, allocationFailed(thief, 'pool openstack-internalapi not compatible for ip assignment'))

  it('exits 3 for a dump without a problem in which some rules could not look', async () => {
    dump(healthy())
    const { code, io } = await doctor('--from', folder)
    expect(io.out()).toMatch(/^\d+ of \d+ rules could look, and none of these matches\n\d+ rules were not evaluated/)
    expect(code).toBe(3)
  })

  it("prints the object, MetalLB's event and the remedy, and exits 1", async () => {
    dump(broken)
    const { code, io } = await doctor('--from', folder)
    expect(code).toBe(1)
    expect(io.out()).toContain('Service openstack2/thief: error SL9502')
    expect(io.out()).toContain('saw: event AllocationFailed: Failed to allocate IP for "openstack2/thief"')
    expect(io.out()).toContain("fix: use this cloud's own pool openstack2-internalapi")
  })

  it('prints JSON with rule, evidence, likelihood and link', async () => {
    dump(broken)
    const { io } = await doctor('--from', folder, '-o', 'json')
    const { diagnoses } = JSON.parse(io.out()) as { diagnoses: readonly unknown[] }
    expect(diagnoses[0]).toMatchObject({
      code: 'SL9502',
      severity: 'error',
      rule: 'metallb/pending-not-for-namespace',
      likelihood: 'proven',
      where: { kind: 'Service', namespace: 'openstack2', name: 'thief' },
      link: expect.stringContaining('https://'),
    })
  })

  it('reads a must-gather with single objects, typed lists and logs', async () => {
    const put = (name: string, content: string): void => {
      const file = path.join(folder, name)
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, content)
    }
    for (const [index, object] of broken.entries()) {
      const { kind, metadata, apiVersion } = object
      const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : 'core'
      const where = metadata.namespace ? `namespaces/${metadata.namespace}` : 'cluster-scoped-resources'
      if (kind !== 'Service') put(`${where}/${group}/${kind.toLowerCase()}s/${index}.yaml`, writeYaml(object))
    }
    for (const namespace of ['openstack', 'openstack2', 'openstack-operators']) {
      const items = broken.filter(({ kind, metadata }) => kind === 'Service' && metadata.namespace === namespace)
      const bare = items.map(({ kind: _kind, apiVersion: _version, ...rest }) => rest)
      put(
        `namespaces/${namespace}/core/services.yaml`,
        writeYaml({ apiVersion: 'v1', kind: 'ServiceList', items: bare }),
      )
      put(`namespaces/${namespace}/pods/a/current.log`, 'kind: Service')
    }
    const { code, io } = await doctor('--from', folder)
    // Nothing of it is reported as unreadable; a slow machine also gets the line that says what takes so long.
    expect(io.err().replace(/^checking \d+ known problems …\n/, '')).toBe('')
    expect(io.out()).toContain('Service openstack2/thief: error SL9502')
    expect(io.out()).toContain('1 cause found by')
    expect(code).toBe(1)
  })

  it('lists skipped rules with the kinds that the dump lacks', async () => {
    dump(broken.filter(({ kind }) => kind !== 'Pod' && kind !== 'Secret'))
    const { io } = await doctor('--from', folder, '-o', 'json')
    const { blind } = JSON.parse(io.out()) as { blind: readonly { unknown: readonly string[] }[] }
    expect(blind.length).toBeGreaterThan(0)
    for (const { unknown } of blind) expect(unknown.length).toBeGreaterThan(0)
  })

  it('prints one namespace with -n', async () => {
    dump(broken)
    const { code, io } = await doctor('--from', folder, '-n', 'openstack')
    expect(io.out()).not.toContain('SL9502')
    expect(code).toBe(3)
  })

  it('lists its rules within 80 columns', async () => {
    const { code, io } = await doctor('--list')
    expect(code).toBe(0)
    expect(io.out()).toContain('metallb/same-pool-name')
    const lines = io.out().split('\n')
    expect(lines.length).toBeGreaterThan(80)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('exits 2 when the dump does not exist', async () => {
    const { code, io } = await doctor('--from', path.join(folder, 'missing'))
    expect(code).toBe(2)
    expect(io.err()).toContain('SL1002')
  })
})
