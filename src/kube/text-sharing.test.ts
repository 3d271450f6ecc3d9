import { expect, it } from 'vitest'
import { createTextSharing } from './text-sharing.ts'

it('changes no value, however many texts it has seen', () => {
  const share = createTextSharing()
  for (let round = 0; round < 3; round += 1) {
    const value = {
      metadata: { name: 'edpm-compute-0', labels: { 'a.very.long/label': 'with-a-long-value' } },
      conditions: Array.from({ length: 3_000 }, (_, n) => ({ message: `message number ${n}`, n, ready: n % 2 === 0 })),
      nothing: null,
      long: 'x'.repeat(1_000),
    }
    const copy = structuredClone(value)
    expect(share(value)).toBe(value)
    expect(value).toEqual(copy)
  }
})
