import { describe, expect, it } from 'vitest'
import { createSegmentSharing } from './segment-sharing.ts'

describe('the owners of a segment', () => {
  it('are the namespaces that are listed for it, and those of * for every other segment', () => {
    const { owners } = createSegmentSharing(() => [], ['vlan-20=a', 'vlan-20=b', 'lab=x/vlan-20=c', '*=d'])
    expect(owners('vlan-20')).toEqual(['a', 'b'])
    expect(owners('lab=x/vlan-20')).toEqual(['c'])
    expect(owners('vlan-21')).toEqual(['d'])
    expect(owners('constructor')).toEqual(['d'])
  })

  it('are none for a segment that is not listed', () => {
    expect(createSegmentSharing(() => [], ['vlan-20=a']).owners('vlan-21')).toEqual([])
  })
})
