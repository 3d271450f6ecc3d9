import { describe, expect, it } from 'vitest'
import { dnsData, dnsMasq, host } from '../../../test/dns.ts'
import { buildDnsReport, formatHostsFile, hasWrongAnswer } from './names-report.ts'

describe('buildDnsReport', () => {
  it('reports a server as ready only when its status does', () => {
    const conditions = [{ type: 'Ready', status: 'True' as const }]
    const [silent, ready] = buildDnsReport({
      dnsMasqs: [dnsMasq('silent'), { ...dnsMasq('ready'), status: { conditions } }],
      dnsDatas: [],
      configMaps: [],
    })
    expect([silent?.ready, ready?.ready]).toEqual([false, true])
  })

  it('lists each name once with all addresses and sources', () => {
    const [report] = buildDnsReport({
      dnsMasqs: [dnsMasq('dns')],
      dnsDatas: [
        dnsData('one', [host('10.0.0.2', 'a.example.com'), host('nonsense', 'b.example.com')]),
        dnsData('two', [host('10.0.0.1', 'a.example.com')]),
        dnsData('elsewhere', [host('10.0.0.9', 'a.example.com')], 'other'),
      ],
      configMaps: [],
    })
    expect(report?.names).toEqual([
      { name: 'a.example.com', addresses: ['10.0.0.1', '10.0.0.2'], from: ['DNSData one', 'DNSData two'] },
    ])
    expect(report?.unusable).toEqual([{ text: 'nonsense', from: 'DNSData one' }])
  })
})

describe('hasWrongAnswer', () => {
  it('ignores the order of addresses and names that were not queried', () => {
    const served = { name: 'a', addresses: ['10.0.0.1', '10.0.0.2'], from: [] }
    expect(hasWrongAnswer(served)).toBe(false)
    expect(hasWrongAnswer({ ...served, answered: ['10.0.0.2', '10.0.0.1'] })).toBe(false)
    expect(hasWrongAnswer({ ...served, answered: ['10.0.0.2'] })).toBe(true)
    expect(hasWrongAnswer({ ...served, answered: [] })).toBe(true)
  })
})

describe('formatHostsFile', () => {
  it('leaves out names and addresses that would add other names', () => {
    const names = ['a.example.com', 'x\n6.6.6.6 bank.example', 'x bank.example', 'x#', '\u001b]52;c;eA\u0007']
    const hosts = names.map((name) => ({ name, address: '10.0.0.1' }))
    const file = formatHostsFile([...hosts, { name: 'b', address: '10.0.0.2\n6.6.6.6' }])
    expect(file).toBe('10.0.0.1 a.example.com\n')
  })
})
