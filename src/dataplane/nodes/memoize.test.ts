import { describe, expect, it } from 'vitest'
import type { EffectiveNode } from '../rules/inheritance.ts'
import { memoizeByNode } from './memoize.ts'

const holding = (name: string): EffectiveNode => ({ name }) as EffectiveNode

describe('What was worked out of a node', () => {
  it('is worked out again when what holds for the node changed, or its addresses did, and else never', () => {
    let times = 0
    const count = memoizeByNode(({ effective }) => {
      times += 1
      return `${effective.name} ${times}`
    })
    const [effective, addresses] = [holding('a'), { ctlplane_ip: '192.0.2.1' }]
    expect(count({ effective, addresses })).toBe('a 1')
    expect(count({ effective, addresses })).toBe('a 1')
    expect(count({ effective, addresses: { ...addresses } })).toBe('a 2')
    expect(count({ effective: holding('a'), addresses })).toBe('a 3')
    expect(count({ effective: holding('b'), addresses })).toBe('b 4')
  })
})
