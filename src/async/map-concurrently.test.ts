import { describe, expect, it } from 'vitest'
import { mapConcurrently } from './map-concurrently.ts'

describe('mapConcurrently', () => {
  it('keeps the order of the items and never exceeds the limit', async () => {
    let active = 0
    let highest = 0
    const results = await mapConcurrently([5, 1, 4, 2, 3], 2, async (item) => {
      active += 1
      highest = Math.max(highest, active)
      await new Promise((resolve) => setTimeout(resolve, item))
      active -= 1
      return item * 10
    })
    expect(results).toEqual([50, 10, 40, 20, 30])
    expect(highest).toBe(2)
  })

  it('starts no further item after an error', async () => {
    const started: number[] = []
    const mapping = mapConcurrently([1, 2, 3, 4], 1, async (item) => {
      started.push(item)
      if (item === 2) throw new Error('failed')
    })
    await expect(mapping).rejects.toThrow('failed')
    expect(started).toEqual([1, 2])
  })
})
