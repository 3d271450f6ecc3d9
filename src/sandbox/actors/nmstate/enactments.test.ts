import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ATTEMPTS,
  advanceNodes,
  applyDesiredState,
  enactmentConditions,
  isFinal,
  type Progress,
  parseProgress,
  policyConditions,
  unavailableLimit,
} from './enactments.ts'

/** Steps until nothing changes; every state on the way. */
function playThrough(nodes: readonly string[], refusals: Readonly<Record<string, string>>, limit: number) {
  const seen: ReadonlyMap<string, Progress>[] = []
  let state: ReadonlyMap<string, Progress> = new Map()
  do {
    const now = nodes.map((node) => ({ node, before: state.get(node), failure: refusals[node] }))
    state = advanceNodes(now, limit)
    seen.push(state)
  } while (![...state.values()].every(isFinal) && seen.length < 100)
  return seen
}

describe('a policy', () => {
  it('is applied on half of the nodes at a time', () => {
    const kinds = playThrough(['a', 'b', 'c'], {}, unavailableLimit(undefined, 3)).map((state) =>
      [...state.values()].map((progress) => progress.kind).join(' '),
    )
    expect(kinds).toEqual([
      'progressing progressing pending',
      'available available pending',
      'available available progressing',
      'available available available',
    ])
  })

  it('fails after five attempts and aborts pending nodes', () => {
    const seen = playThrough(['a', 'b'], { a: 'no such NIC' }, 1)
    const last = seen.at(-1)
    expect(last?.get('a')).toEqual({ kind: 'failing', message: 'no such NIC' })
    expect(last?.get('b')).toEqual({ kind: 'aborted' })
    expect(seen.filter((state) => state.get('a')?.kind === 'retrying')).toHaveLength(ATTEMPTS - 1)
    const [first] = policyConditions([...(last?.values() ?? [])])
    expect(first).toEqual(['Available', 'False', 'FailedToConfigure', undefined])
  })

  it('always finishes and never exceeds maxUnavailable', () => {
    const nodes = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { minLength: 1 })
    fc.assert(
      fc.property(nodes, nodes, fc.integer({ min: 1, max: 8 }), (all, bad, limit) => {
        const seen = playThrough(all, Object.fromEntries(bad.map((node) => [node, 'no'])), limit)
        expect([...(seen.at(-1)?.values() ?? [])].every(isFinal)).toBe(true)
        for (const state of seen) {
          const busy = [...state.values()].filter(
            (progress) => progress.kind === 'progressing' || progress.kind === 'retrying',
          )
          expect(busy.length).toBeLessThanOrEqual(limit)
        }
      }),
    )
  })

  it('has the same progress after its conditions are written and parsed', () => {
    const all: readonly Progress[] = [
      { kind: 'pending' },
      { kind: 'progressing' },
      { kind: 'retrying', attempts: 2 },
      { kind: 'available' },
      { kind: 'failing', message: 'x' },
      { kind: 'aborted' },
    ]
    for (const progress of all) {
      const written = enactmentConditions('n', progress).map(([type, status, reason, message = '']) => ({
        type,
        status,
        reason,
        message,
      }))
      expect(parseProgress(written, progress.kind === 'retrying' ? progress.attempts : 0)).toEqual(progress)
    }
  })

  it('rounds a percentage of nodes up to at least one', () => {
    expect([3, 1, 4].map((nodes) => unavailableLimit('50%', nodes))).toEqual([2, 1, 2])
    expect(unavailableLimit(3, 10)).toBe(3)
    expect(unavailableLimit('0%', 10)).toBe(1)
  })
})

describe('applyDesiredState', () => {
  it('removes the addresses of a family that is switched off', () => {
    const on = { enabled: true, address: [{ ip: '172.18.0.5', 'prefix-length': 24 }] }
    const before = applyDesiredState({}, { interfaces: [{ name: 'eth1', ipv4: on, ipv6: on, mtu: 9000 }] })
    const after = applyDesiredState(before, { interfaces: [{ name: 'eth1', ipv4: { enabled: false } }] })
    expect(after.interfaces).toEqual([{ name: 'eth1', ipv4: { enabled: false }, ipv6: on, mtu: 9000 }])
  })

  const vlan = (name: string, ip: string) => ({
    name,
    type: 'vlan',
    ipv4: { enabled: true, address: [{ ip, 'prefix-length': 24 }] },
  })

  it('keeps interfaces that the policy does not list and removes absent ones', () => {
    const before = applyDesiredState(
      {},
      { interfaces: [vlan('enp6s0.20', '172.17.0.10'), vlan('enp6s0.21', '172.18.0.10')] },
    )
    const after = applyDesiredState(before, { interfaces: [{ name: 'enp6s0.20', state: 'absent' }] })
    expect(after.interfaces?.map(({ name }) => name)).toEqual(['enp6s0.21'])
  })

  it('removes the VLANs of a bond with it, and keeps those of a NIC', () => {
    const on = (base: string) => ({ ...vlan(`${base}.20`, '172.17.0.10'), vlan: { 'base-iface': base, id: 20 } })
    const before = {
      interfaces: [{ name: 'bond0', type: 'bond' }, { name: 'eth1', type: 'ethernet' }, on('bond0'), on('eth1')],
    }
    const absent = (name: string) => ({ name, state: 'absent' })
    const after = applyDesiredState(before, { interfaces: [absent('bond0'), absent('eth1')] })
    expect(after.interfaces?.map(({ name }) => name)).toEqual(['eth1.20'])
  })

  it('moves a port to the bridge or bond that lists it now', () => {
    const bridge = (name: string, port: string) => ({ name, type: 'linux-bridge', bridge: { port: [{ name: port }] } })
    const bond = { name: 'bond0', type: 'bond', 'link-aggregation': { port: ['eth2'] } }
    const before = { interfaces: [bridge('br0', 'eth1.20'), bridge('br1', 'eth2')] }
    const after = applyDesiredState(before, { interfaces: [bridge('br2', 'eth1.20'), bond] })
    const empty = (name: string) => ({ ...bridge(name, ''), bridge: { port: [] } })
    expect(after.interfaces).toEqual([empty('br0'), empty('br1'), bridge('br2', 'eth1.20'), bond])
  })

  it('replaces the whole list of addresses', () => {
    const before = applyDesiredState({}, { interfaces: [{ ...vlan('ospbr', '192.168.122.10'), mtu: 9000 }] })
    const after = applyDesiredState(before, { interfaces: [vlan('ospbr', '192.168.133.10')] })
    expect(after.interfaces).toEqual([{ ...vlan('ospbr', '192.168.133.10'), mtu: 9000 }])
  })

  it('adds routes and rules to those of the node and removes absent ones, and routes with their interface', () => {
    const route = { destination: '10.1.0.0/24', 'next-hop-interface': 'enp6s0.20' }
    const blackhole = { destination: '10.2.0.0/24', 'route-type': 'blackhole' }
    const rule = (priority: number) => ({ 'route-table': 1, priority })
    const first = { interfaces: [vlan('enp6s0.20', '172.17.0.10')], routes: { config: [route] } }
    const second = { routes: { config: [blackhole] }, 'route-rules': { config: [rule(1), rule(2)] } }
    const both = applyDesiredState(applyDesiredState({}, first), second)
    expect(both['routes']).toEqual({ config: [route, blackhole] })
    const after = applyDesiredState(both, {
      interfaces: [{ name: 'enp6s0.20', state: 'absent' }],
      'route-rules': { config: [{ ...rule(1), state: 'absent' }] },
    })
    expect(after).toEqual({ interfaces: [], routes: { config: [blackhole] }, 'route-rules': { config: [rule(2)] } })
  })
})
