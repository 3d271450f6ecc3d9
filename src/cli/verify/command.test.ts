import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { planExample } from '../../../test/examples.ts'
import { changed, healthySnapshot } from '../../../test/healthy-snapshot.ts'
import { testIo } from '../../../test/io.ts'
import type { Snapshot } from '../../api/snapshot.ts'
import { main } from '../main.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-verify-'))
const healthy = healthySnapshot(planExample('two-clouds'))
const broken = changed(healthy, 'Service openstack2/keystone-internal', (service) => ({
  ...service,
  status: { loadBalancer: { ingress: [{ ip: '172.17.0.90' }] } },
}))

function dump(name: string, { objects }: Snapshot): void {
  writeFileSync(path.join(folder, `${name}.json`), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
}

beforeAll(() => {
  dump('healthy', healthy)
  dump('broken', broken)
  dump('nothing', { objects: [], unread: [] })
})
afterAll(() => rmSync(folder, { recursive: true }))

async function verify(name: string, ...words: readonly string[]) {
  const io = testIo()
  const from = path.join(folder, `${name}.json`)
  const code = await main(['verify', '-f', 'examples/two-clouds.yaml', '--from', from, ...words], io)
  return { code, out: io.out(), err: io.err() }
}

interface Told {
  readonly findings: readonly { readonly code: string; readonly message: string }[]
  readonly proved: boolean
  readonly checks: readonly { readonly id: string; readonly cloud?: string; readonly verdict: string }[]
}

describe('stackloom verify', () => {
  it('exits 1 with check, cloud and remedy when a cloud has an address of another cloud', async () => {
    const { code, out, err } = await verify('broken')
    expect(code).toBe(1)
    expect(out).toMatch(/✗ +rhoso1 +foreign-holders/)
    expect(err).toContain('Service openstack2/keystone-internal holds 172.17.0.90, which is in internalapi of rhoso1')
    expect(err).toContain('fix: give openstack2/keystone-internal an address of its own pool')
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  it('prints every check with its verdict as JSON', async () => {
    const { out } = await verify('broken', '-o', 'json', '--cloud', 'rhoso1')
    const { proved, checks } = JSON.parse(out) as Told
    expect(proved).toBe(false)
    expect(checks.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id)).toEqual(['foreign-holders'])
    expect(checks.some(({ cloud }) => cloud === 'rhoso2')).toBe(false)
  })

  it('checks one cloud by its namespace', async () => {
    const { checks } = JSON.parse((await verify('broken', '-o', 'json', '-n', 'openstack2')).out) as Told
    expect(new Set(checks.flatMap(({ cloud }) => cloud ?? []))).toEqual(new Set(['rhoso2']))
    expect((await verify('healthy', '-n', 'openstack9')).code).toBe(2)
  })

  it('exits 2 for an unknown cloud', async () => {
    const { code, err } = await verify('healthy', '--cloud', 'rhoso3')
    expect(code).toBe(2)
    expect(err).toContain('rhoso3')
  })

  it.each([
    'IPAddressPool',
    'Service',
    'Pod',
    'KeystoneEndpoint',
    'NetworkAttachmentDefinition',
    'NodeNetworkConfigurationPolicy',
  ])('exits 3 for a dump without any %s, and blames no object', async (kind) => {
    dump('partial', { objects: healthy.objects.filter((object) => object.kind !== kind), unread: [] })
    const { code, out } = await verify('partial', '-o', 'json')
    const { findings, proved } = JSON.parse(out) as Told
    expect([...new Set(findings.map((finding) => finding.code))]).toEqual(['SL9001'])
    expect({ code, proved }).toEqual({ code: 3, proved: false })
  })

  it('exits 2 for a folder without cluster objects', async () => {
    const { code, err } = await verify('nothing')
    expect(code).toBe(2)
    expect(err).toContain('SL1128')
  })

  it('passes a healthy cluster', async () => {
    const { code, out } = await verify('healthy')
    expect(out).toMatch(/all \d+ checks passed/)
    expect(code).toBe(0)
  })

  it.each(['proof.md', 'proof.html'])('writes %s', async (name) => {
    const file = path.join(folder, name)
    await verify('broken', '--report', file)
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('No foreign holder')
    expect(text).toContain('SL9025')
  })
})
