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

describe('a policy on its nodes', () => {
  it('is taken by half of the nodes at a time', () => {
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

  it('fails after five attempts, and whoever waited gives up', () => {
    const seen = playThrough(['a', 'b'], { a: 'no such NIC' }, 1)
    const last = seen.at(-1)
    expect(last?.get('a')).toEqual({ kind: 'failing', message: 'no such NIC' })
    expect(last?.get('b')).toEqual({ kind: 'aborted' })
    expect(seen.filter((state) => state.get('a')?.kind === 'retrying')).toHaveLength(ATTEMPTS - 1)
    const [first] = policyConditions([...(last?.values() ?? [])])
    expect(first).toEqual(['Available', 'False', 'FailedToConfigure', undefined])
  })

  it('always comes to an end, with never more nodes at work than allowed', () => {
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

  it('says the same of an enactment after writing and reading its conditions', () => {
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

  it('counts a share of the nodes upwards, and never none', () => {
    expect([3, 1, 4].map((nodes) => unavailableLimit('50%', nodes))).toEqual([2, 1, 2])
    expect(unavailableLimit(3, 10)).toBe(3)
    expect(unavailableLimit('0%', 10)).toBe(1)
  })
})

describe('the state of a node', () => {
  const vlan = (name: string, ip: string) => ({
    name,
    type: 'vlan',
    ipv4: { enabled: true, address: [{ ip, 'prefix-length': 24 }] },
  })

  it('keeps what a policy does not name, and loses what it calls absent', () => {
    const before = applyDesiredState(
      {},
      { interfaces: [vlan('enp6s0.20', '172.17.0.10'), vlan('enp6s0.21', '172.18.0.10')] },
    )
    const after = applyDesiredState(before, { interfaces: [{ name: 'enp6s0.20', state: 'absent' }] })
    expect(after.interfaces?.map(({ name }) => name)).toEqual(['enp6s0.21'])
  })

  it('replaces a list of addresses as a whole: the second cloud takes the first one away', () => {
    const before = applyDesiredState({}, { interfaces: [{ ...vlan('ospbr', '192.168.122.10'), mtu: 9000 }] })
    const after = applyDesiredState(before, { interfaces: [vlan('ospbr', '192.168.133.10')] })
    expect(after.interfaces).toEqual([{ ...vlan('ospbr', '192.168.133.10'), mtu: 9000 }])
  })
})
