import { describe, expect, it } from 'vitest'
import type { DnsOption } from './dnsmasq.ts'
import { dnsMasqViolations } from './dnsmasq.ts'

function problems(key: DnsOption['key'], ...values: string[]): readonly string[] {
  return dnsMasqViolations({ options: [{ key, values }] }, 'openstack').map(
    (dnsMasqViolation) => dnsMasqViolation.detail,
  )
}

describe('options of a DNSMasq', () => {
  it.each<[DnsOption['key'], ...string[]]>([
    ['server', '192.168.122.1'],
    ['server', '192.168.122.1#5300'],
    ['server', '/example.com/192.168.122.1'],
    ['server', '/example.com/'],
    ['server', '//1.1.1.1'],
    ['server', '2001:db8::53@eth0'],
    ['local', '/openstack.svc/'],
    ['rev-server', '192.168.122.0/24', '192.168.122.1'],
    ['rev-server', '192.168.122.0/24,192.168.122.1'],
    ['srv-host', '_ldap._tcp.example.com', 'ldap.example.com', '389'],
    ['txt-record', 'example.com', '"v=spf1 a -all # not a comment"'],
    ['ptr-record', '_http._tcp.example.com', 'page.example.com'],
    ['rebind-domain-ok', '/example.com/'],
    ['naptr-record', 'example.com', '1', '2', 's', 'SIP+D2U', '', 'target'],
    ['cname', 'alias.example.com', 'host.example.com'],
    ['host-record', 'host.example.com', '192.168.122.7', 'fd00::7'],
    ['caa-record', 'example.com', '0', 'issue', 'letsencrypt.org'],
    ['dns-rr', 'example.com', '51', '01:23:45'],
    ['auth-zone', 'example.com', '192.168.122.0/24'],
    ['synth-domain', 'example.com', '192.168.122.0/24', 'host-'],
    ['no-negcache'],
    ['local-ttl', '30'],
    ['dhcp-ttl', '30'],
    ['max-ttl', '30'],
  ])('%s %s is taken', (key, ...values) => {
    expect(problems(key, ...values)).toEqual([])
  })

  it.each<[string, DnsOption['key'], ...string[]]>([
    ['a line break would start another directive', 'server', '1.1.1.1\nconf-file=/etc/shadow'],
    ['a line break would start another directive', 'txt-record', 'x\rdhcp-script=/bin/sh'],
    ['a control character is not allowed', 'txt-record', 'a\u0000b'],
    ['a quotation mark is not closed', 'txt-record', 'example.com', '"open'],
    ['a # starts a comment: the rest is not read', 'cname', 'a', 'b #c'],
    ['nonsense is not an address', 'server', 'nonsense'],
    ['99999 is not a port', 'server', '1.1.1.1#99999'],
    ['/example.com is not closed: /domain/address', 'server', '/example.com'],
    ['takes one value; repeat the option for another', 'server', '1.1.1.1', '8.8.8.8'],
    ['needs a value', 'server'],
    ['takes no value', 'no-negcache', 'yes'],
    ['takes one number of seconds', 'max-ttl', 'long'],
    ['needs a name and its target', 'cname', 'alone'],
    ['nowhere is not a subnet', 'rev-server', 'nowhere', '1.1.1.1'],
  ])('%s: %s', (detail, key, ...values) => {
    expect(problems(key, ...values)).toEqual([`${key}: ${detail}`])
  })

  it('names the field, and allows an object that had the problem before', () => {
    const [violation] = dnsMasqViolations(
      {
        options: [
          { key: 'server', values: ['1.1.1.1'] },
          { key: 'local', values: ['a\nb'] },
        ],
      },
      'openstack',
    )
    expect(violation).toMatchObject({ field: 'spec.options[1].values[0]', rule: 'own' })
  })
})

describe('the topology of a DNSMasq', () => {
  it('must be in the namespace of the DNSMasq', () => {
    const refused = dnsMasqViolations({ topologyRef: { name: 't', namespace: 'other' } }, 'openstack')
    expect(refused).toMatchObject([{ field: 'spec.topologyRef.namespace', rule: 'upstream' }])
    expect(dnsMasqViolations({ topologyRef: { name: 't', namespace: 'openstack' } }, 'openstack')).toEqual([])
  })
})
