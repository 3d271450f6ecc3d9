import { describe, expect, it } from 'vitest'
import { dnsData, host, someHosts } from '../../../test/dns.ts'
import { buildConfigMaps, buildDnsDataStatus } from './dnsdata-controller.ts'
import { formatHosts, parseHosts, splitHosts } from './hosts-file.ts'

describe('DNSData', () => {
  const upstream = dnsData(
    'data',
    [host('host-ip-1', 'host1'), host('host-ip-2', 'host3', 'host2')],
    'ns',
    'SomeSelector',
  )

  it('is copied with a line per host, sorted names, and text that is not an address', () => {
    expect(formatHosts(upstream)).toBe('host-ip-1 host1\nhost-ip-2 host2 host3\n')
    const [map] = buildConfigMaps(upstream, formatHosts(upstream))
    expect(map).toMatchObject({
      metadata: {
        name: 'data',
        labels: { dnsmasqhosts: 'someselector', 'dnsmasq.openstack.org/name': 'data' },
      },
      data: { data: 'host-ip-1 host1\nhost-ip-2 host2 host3\n' },
    })
  })

  it('is Ready, with a condition that names texts that are not addresses', () => {
    const { conditions } = buildDnsDataStatus(upstream, 'hash', undefined, 'now')
    expect(conditions).toMatchObject([
      { type: 'Ready', status: 'True', message: 'Setup complete' },
      { type: 'ServiceConfigReady', status: 'True', message: 'Input data complete' },
      {
        type: 'HostsUsable',
        status: 'False',
        severity: 'Warning',
        message: 'SL6002: 2 hosts have text that is not an IP address: host-ip-1, host-ip-2',
      },
    ])
  })

  it('is split at line ends into several ConfigMaps when it is too large', () => {
    const hosts = Array.from({ length: 40_000 }, (_, at) =>
      host(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`, `edpm-compute-${at}.ctlplane.example.com`),
    )
    const large = dnsData('large', hosts)
    const maps = buildConfigMaps(large, formatHosts(large))
    expect(maps.map(({ metadata }) => metadata.name)).toEqual(['large', 'large.part-2', 'large.part-3'])
    const texts = maps.flatMap(({ data }) => Object.values(data as Record<string, string>))
    expect(texts.every((text) => text.endsWith('\n') && text.length <= 1_000_000)).toBe(true)
    expect(texts.join('')).toBe(formatHosts(large))
  })
})

describe('parseHosts', () => {
  it('returns canonical addresses with all names, without comments', () => {
    expect(parseHosts('# all\n\n10.0.0.1\ta  b # c\nFE80::0:1 x\nnowhere y\n10.0.0.2\n')).toEqual([
      { ip: '10.0.0.1', names: ['a', 'b'], usable: true },
      { ip: 'fe80::1', names: ['x'], usable: true },
      { ip: 'nowhere', names: ['y'], usable: false },
    ])
  })

  it('reads every line of the parts of splitHosts', () => {
    expect(splitHosts('a\nb\n', 100)).toEqual(['a\nb\n'])
    expect(splitHosts('aaa\nbbb\nccc\n', 8)).toEqual(['aaa\nbbb\n', 'ccc\n'])
    expect(splitHosts('', 8)).toEqual([''])
  })

  it('reads every name of the 2023 design example', () => {
    const names = parseHosts(formatHosts(dnsData('somehosts', someHosts))).flatMap((hostLine) => hostLine.names)
    expect(names).toHaveLength(8)
    expect(names).toContain('edpm-compute-1.storge')
  })
})
