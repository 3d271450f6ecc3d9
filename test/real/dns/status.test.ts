/** Tests `dns status --query` with a real server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { dnsData, dnsMasq, host } from '../../dns.ts'
import { testIo } from '../../io.ts'
import { loopback, missingPrograms } from './ask.ts'
import { type ServedHosts, servedHosts } from './served.ts'

const refusal = missingPrograms()
let served: ServedHosts | undefined
let folder = ''

beforeEach((context) => {
  if (refusal !== undefined) context.skip(refusal)
  folder = mkdtempSync(path.join(tmpdir(), 'stackloom-dns-status-'))
  const hosts = [
    host('10.0.0.1', 'right.example.com'),
    host('10.0.0.2', 'moved.example.com'),
    host('10.0.0.3', 'missing.example.com'),
    host('fd00::1', 'right.example.com'),
  ]
  const items = [dnsMasq('dns', 'openstack'), dnsData('some', hosts, 'openstack')]
  writeFileSync(path.join(folder, 'all.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
})
afterEach(async () => {
  await served?.stop()
  served = undefined
  rmSync(folder, { recursive: true, force: true })
})

async function ask(server: string): Promise<{ code: number; out: string; err: string }> {
  const io = testIo()
  const code = await main(['dns', 'status', '--from', folder, '--query', '--server', server], io)
  return { code, out: io.out(), err: io.err() }
}

it('shows what the server answers, and exits with 1 and a finding for each difference', async () => {
  const a = '10.0.0.1 right.example.com\nfd00::1 right.example.com\n10.0.0.9 moved.example.com\n'
  served = await servedHosts({ sources: { a } })
  const { code, out, err } = await ask(`${served.server.address}:5353`)
  expect(code).toBe(1)
  expect(out).toMatch(/right\.example\.com +10\.0\.0\.1,fd00::1 +the same +DNSData some/)
  expect(out).toMatch(/moved\.example\.com +10\.0\.0\.2 +10\.0\.0\.9 +DNSData some/)
  expect(out).toMatch(/missing\.example\.com +10\.0\.0\.3 +nothing +DNSData some/)
  expect(err.match(/SL6006/g)).toHaveLength(2)
}, 120_000)

it('exits with 2 when no server answers', async () => {
  const { code, err } = await ask(`${loopback()}:5353`)
  expect(code).toBe(2)
  expect(err).toContain('SL6007')
}, 120_000)
