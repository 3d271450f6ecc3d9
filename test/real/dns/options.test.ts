/** Tests every option of a DNSMasq with a real dnsmasq. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type DnsOption, dnsMasqViolations, optionKeys } from '../../../src/api/dnsmasq.ts'
import { addressesOf, dig, missingPrograms } from './ask.ts'
import { type ServedHosts, servedHosts } from './served.ts'

const refusal = missingPrograms()
const running: ServedHosts[] = []

beforeEach((context) => {
  if (refusal !== undefined) context.skip(refusal)
})
afterEach(async () => {
  for (const servedHosts of running.splice(0)) await servedHosts.stop()
})

async function start(options: readonly DnsOption[], hosts: string): Promise<ServedHosts> {
  const served = await servedHosts({ spec: { options: [...options] }, sources: { hosts } })
  running.push(served)
  return served
}

it('server and rev-server forward queries; local and the own namespace are never forwarded', async () => {
  const far = await start([], '10.9.0.1 far.example.com\n10.9.0.2 hidden.openstack.svc\n10.9.0.3 hidden.local.test\n')
  const at = `${far.server.address}#5353`
  const near = await start(
    [
      { key: 'server', values: [at] },
      { key: 'rev-server', values: ['10.9.0.0/24', at] },
    ],
    '10.0.0.1 near.example.com\n',
  )
  expect(await addressesOf(near.server, 'near.example.com')).toEqual(['10.0.0.1'])
  expect(await addressesOf(near.server, 'far.example.com')).toEqual(['10.9.0.1'])
  expect(dig(near.server, '-x', '10.9.0.1')).toEqual(['far.example.com.'])
  expect(await addressesOf(near.server, 'hidden.openstack.svc')).toEqual([])
  expect(await addressesOf(near.server, 'hidden.local.test')).toEqual(['10.9.0.3'])
  const closed = await start(
    [
      { key: 'server', values: [at] },
      { key: 'local', values: ['/local.test/'] },
    ],
    '',
  )
  expect(await addressesOf(closed.server, 'hidden.local.test')).toEqual([])
  expect(await addressesOf(closed.server, 'unknown.example.com')).toEqual([])
})

it('records of every kind are answered, and dnsmasq accepts every key of the list', async () => {
  const options: readonly DnsOption[] = [
    { key: 'server', values: ['/elsewhere.test/127.0.0.1#1'] },
    { key: 'rev-server', values: ['10.250.0.0/16', '127.0.0.1#1'] },
    { key: 'srv-host', values: ['_ldap._tcp.example.com', 'ldap.example.com', '389'] },
    { key: 'txt-record', values: ['txt.example.com', '"a text, with a comma"'] },
    { key: 'ptr-record', values: ['ptr.example.com', 'target.example.com'] },
    { key: 'rebind-domain-ok', values: ['/example.com/'] },
    { key: 'naptr-record', values: ['naptr.example.com', '10', '20', 's', 'SIP+D2U', '', 'sip.example.com'] },
    { key: 'cname', values: ['alias.example.com', 'host.example.com'] },
    { key: 'host-record', values: ['record.example.com', '10.0.0.9', 'fd00::9'] },
    { key: 'caa-record', values: ['example.com', '0', 'issue', 'ca.example.org'] },
    { key: 'dns-rr', values: ['raw.example.com', '65280', '0a0b'] },
    { key: 'auth-zone', values: ['zone.test', '10.0.0.0/24'] },
    { key: 'synth-domain', values: ['synth.test', '10.77.0.0/24', 'host-'] },
    { key: 'no-negcache', values: [] },
    { key: 'local', values: ['/closed.test/'] },
    { key: 'local-ttl', values: ['77'] },
    { key: 'dhcp-ttl', values: ['77'] },
    { key: 'max-ttl', values: ['88'] },
  ]
  expect(new Set(options.map(({ key }) => key))).toEqual(new Set(optionKeys))
  expect(dnsMasqViolations({ options: [...options] }, 'openstack')).toEqual([])
  const { server } = await start(options, '10.0.0.1 host.example.com\n')
  expect(dig(server, '_ldap._tcp.example.com', 'SRV')).toEqual(['0 0 389 ldap.example.com.'])
  expect(dig(server, 'txt.example.com', 'TXT')).toEqual(['"a text, with a comma"'])
  expect(dig(server, 'ptr.example.com', 'PTR')).toEqual(['target.example.com.'])
  expect(dig(server, 'naptr.example.com', 'NAPTR')).toEqual(['10 20 "s" "SIP+D2U" "" sip.example.com.'])
  expect(dig(server, 'alias.example.com', 'A')).toEqual(['host.example.com.', '10.0.0.1'])
  expect(dig(server, 'record.example.com', 'A')).toEqual(['10.0.0.9'])
  expect(dig(server, 'record.example.com', 'AAAA')).toEqual(['fd00::9'])
  expect(dig(server, 'example.com', 'CAA')).toEqual(['0 issue "ca.example.org"'])
  expect(dig(server, 'raw.example.com', 'TYPE65280')).toEqual(['\\# 2 0A0B'])
  expect(dig(server, 'host-10-77-0-5.synth.test', 'A')).toEqual(['10.77.0.5'])
  expect(dig(server, 'unknown.closed.test', 'A')).toEqual([])
  expect(dig(server, '+noshort', '+noall', '+answer', 'host.example.com', 'A').join(' ')).toMatch(
    /host\.example\.com\.\s+77\s/,
  )
})
