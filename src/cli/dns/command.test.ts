import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dnsData, dnsMasq, host } from '../../../test/dns.ts'
import { type TestIo, testIo } from '../../../test/io.ts'
import { siteText } from '../../../test/site.ts'
import { main } from '../main.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'stackloom-dns-cli-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

async function run(words: string): Promise<{ readonly code: number; readonly io: TestIo }> {
  const io = testIo({ cwd })
  return { code: await main(words.split(' '), io), io }
}

const nodes = [0, 1, 2].map((index) => ({ name: `worker-${index}`, nic: 'enp6s0' }))
const site = siteText({
  cluster: { nodes, dns: ['192.168.122.1'] },
  clouds: [
    { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] },
    { name: 'rhoso2', namespace: 'openstack2' },
  ],
})

describe('dns hosts', () => {
  it('has the internal endpoints and hosts of the cloud that was named, and of no other', async () => {
    writeFileSync(path.join(cwd, 'site.yaml'), site)
    const { code, io } = await run('dns hosts --cloud rhoso1')
    expect(code).toBe(0)
    expect(io.out()).toMatch(/^172\.17\.0\.\d+ .*keystone-internal\.openstack\.svc/m)
    expect(io.out()).toMatch(/compute-0\.ctlplane/)
    expect(io.out()).not.toContain('openstack2')
    const other = await run('dns hosts --cloud rhoso2')
    expect(other.io.out()).toContain('keystone-internal.openstack2.svc')
    expect(other.io.out()).not.toContain('compute-0')
  })

  it('has what the DNSMasqs of the cloud serve, with --live', async () => {
    writeFileSync(path.join(cwd, 'site.yaml'), site)
    const dump = path.join(cwd, 'dump')
    mkdirSync(dump)
    const items = [
      dnsMasq('dns', 'openstack'),
      dnsData('some', [host('172.17.0.80', 'keystone-internal.openstack.svc'), host('fd00::1', 'six')], 'openstack'),
      dnsMasq('dns', 'openstack2'),
      dnsData('some', [host('172.17.1.80', 'keystone-internal.openstack2.svc')], 'openstack2'),
    ]
    writeFileSync(path.join(dump, 'all.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    const { code, io } = await run(`dns hosts --cloud rhoso1 --live --from ${dump}`)
    expect(code).toBe(0)
    expect(io.out()).toBe('172.17.0.80 keystone-internal.openstack.svc\nfd00::1 six\n')
  })

  it('names the clouds that there are', async () => {
    writeFileSync(path.join(cwd, 'site.yaml'), site)
    const { code, io } = await run('dns hosts --cloud rhoso3')
    expect(code).toBe(2)
    expect(io.err()).toContain('rhoso2')
  })
})

describe('dns status', () => {
  beforeEach(() => {
    const status = {
      dnsAddresses: ['192.168.122.80'],
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    }
    const items = [
      { ...dnsMasq('dns', 'openstack'), status },
      dnsData('dns-svc', [host('172.17.0.80', 'keystone-internal.openstack.svc')], 'openstack'),
      dnsData('bad', [host('host-ip-1', 'unserved')], 'openstack'),
      dnsData('other', [host('172.17.0.99', 'elsewhere')], 'openstack2'),
      dnsData('unselected', [host('172.17.0.98', 'unselected')], 'openstack', 'another'),
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'by-hand', namespace: 'openstack', labels: { dnsmasqhosts: 'dnsdata' } },
        data: { 'by-hand': '172.17.0.80 hand.example.com\n' },
      },
    ]
    writeFileSync(path.join(cwd, 'all.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  })

  it('shows every name with its address and where it comes from', async () => {
    const { code, io } = await run(`dns status --from ${cwd}`)
    expect(code).toBe(0)
    expect(io.out()).toBe(
      [
        'openstack/dns: 192.168.122.80',
        'NAME                             ADDRESS      FROM',
        'hand.example.com                 172.17.0.80  ConfigMap by-hand',
        'keystone-internal.openstack.svc  172.17.0.80  DNSData dns-svc',
        'skipped: host-ip-1 of DNSData bad is not an address',
        '',
      ].join('\n'),
    )
  })

  it('is the same as JSON', async () => {
    const { io } = await run(`dns status --from ${cwd} -o json`)
    expect(JSON.parse(io.out()).servers).toMatchObject([
      {
        namespace: 'openstack',
        names: [
          { name: 'hand.example.com', addresses: ['172.17.0.80'], from: ['ConfigMap by-hand'] },
          { name: 'keystone-internal.openstack.svc' },
        ],
      },
    ])
  })
})
