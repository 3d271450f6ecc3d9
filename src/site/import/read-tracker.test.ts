import { describe, expect, it } from 'vitest'
import { asRecord, asString, asStrings, type JsonRecord } from '../../api/json.ts'
import { formatUnread, trackReads } from './read-tracker.ts'

function unread(input: unknown, read: (value: JsonRecord) => void): readonly string[] {
  const tracked = trackReads(input)
  read(asRecord(tracked.value))
  return tracked.unread().map(formatUnread)
}

describe('trackReads', () => {
  it('reports nothing when everything is read', () => {
    const read = (value: JsonRecord): void => void [asString(value['a']), asStrings(value['b'])]
    expect(unread({ a: 'x', b: ['y', 'z'] }, read)).toEqual([])
  })

  it('reports the highest value of which nothing is read', () => {
    const input = { network: { vlan: 20, bgp: { asn: 1, peers: ['a', 'b'] } }, name: 'x' }
    expect(unread(input, ({ network }) => void asRecord(network)['vlan'])).toEqual(['network.bgp', 'name'])
  })

  it('reports one item of a list by its index', () => {
    const read = (value: JsonRecord): void => void (value['routes'] as readonly unknown[])[0]
    expect(unread({ routes: ['a', 'b'] }, read)).toEqual(['routes.1'])
  })

  it('reports siblings with the same unread fields together', () => {
    const node = { name: 'x', bgp_ip: ['a'], routes: { config: [{ metric: 1 }] } }
    const read = (value: JsonRecord): void => {
      for (const each of Object.values(value)) void asRecord(each)['name']
    }
    expect(unread({ node_0: node, node_1: node }, read)).toEqual(['node_0, node_1: bgp_ip, routes'])
  })

  it('does not report values that say nothing', () => {
    expect(unread({ search: [], options: {}, gateway: null, ipMasq: false, text: '' }, () => undefined)).toEqual([])
  })
})
