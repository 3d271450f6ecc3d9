import { describe, expect, it } from 'vitest'
import { dnsData, dnsMasq, host } from '../../../test/dns.ts'
import { buildDnsReport, hasWrongAnswer } from './names-report.ts'

describe('the report of a server', () => {
  it('calls it ready only when its status says so', () => {
    const conditions = [{ type: 'Ready', status: 'True' as const }]
    const [silent, ready] = buildDnsReport({
      dnsMasqs: [dnsMasq('silent'), { ...dnsMasq('ready'), status: { conditions } }],
      dnsDatas: [],
      configMaps: [],
    })
    expect([silent?.ready, ready?.ready]).toEqual([false, true])
  })

  it('has each name once, with all its addresses and where they come from', () => {
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

describe('an answer', () => {
  it('differs by what is in it, not by its order, and only where the server was asked', () => {
    const served = { name: 'a', addresses: ['10.0.0.1', '10.0.0.2'], from: [] }
    expect(hasWrongAnswer(served)).toBe(false)
    expect(hasWrongAnswer({ ...served, answered: ['10.0.0.2', '10.0.0.1'] })).toBe(false)
    expect(hasWrongAnswer({ ...served, answered: ['10.0.0.2'] })).toBe(true)
    expect(hasWrongAnswer({ ...served, answered: [] })).toBe(true)
  })
})
