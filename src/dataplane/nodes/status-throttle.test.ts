import { describe, expect, it } from 'vitest'
import { dataPlaneNode } from '../../../test/data-plane.ts'
import type { DataPlaneNode } from '../kinds/data-plane.ts'
import { createStatusThrottle } from './status-throttle.ts'

const node = (uid: string): DataPlaneNode => {
  const made = dataPlaneNode('n')
  return { ...made, metadata: { ...made.metadata, uid } }
}

describe('createStatusThrottle', () => {
  it('allows the first write after a second, and then one per second', () => {
    const progress = createStatusThrottle(100)
    expect(progress.remainingMs(node('a'), 5_000)).toBe(1_000)
    expect(progress.remainingMs(node('a'), 6_000)).toBe(0)
    progress.written(node('a'), 6_000)
    expect(progress.remainingMs(node('a'), 6_400)).toBe(600)
  })

  it('allows ten writes per second for all nodes in progress together', () => {
    const progress = createStatusThrottle(100)
    for (let index = 0; index < 1_000; index += 1) progress.remainingMs(node(`n-${index}`), 0)
    expect(progress.remainingMs(node('n-0'), 0)).toBe(100_000)
    for (let index = 1; index < 1_000; index += 1) progress.forget(node(`n-${index}`))
    expect(progress.remainingMs(node('n-0'), 0)).toBe(1_000)
  })

  it('allows every write without a delay per node', () => {
    expect(createStatusThrottle(0).remainingMs(node('a'), 5_000)).toBe(0)
  })
})
