import { describe, expect, it } from 'vitest'
import { createLimiter } from './limiter.ts'

describe('a gate', () => {
  it('lets so many through at once, in the order in which they came, and everybody in the end', async () => {
    const gate = createLimiter(2)
    const begun: number[] = []
    let inside = 0
    let most = 0
    const pass = async (who: number): Promise<number> => {
      begun.push(who)
      inside += 1
      most = Math.max(most, inside)
      await new Promise((resolve) => setImmediate(resolve))
      inside -= 1
      return who
    }
    const everybody = [0, 1, 2, 3, 4, 5, 6]
    expect(await Promise.all(everybody.map((who) => gate(() => pass(who))))).toEqual(everybody)
    expect(begun).toEqual(everybody)
    expect(most).toBe(2)
  })

  it('stays open after somebody failed inside', async () => {
    const gate = createLimiter(1)
    const failed = gate(() => Promise.reject(new Error('no')))
    const after = gate(async () => 'through')
    await expect(failed).rejects.toThrow('no')
    expect(await after).toBe('through')
  })
})
