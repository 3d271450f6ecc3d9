/** Times of the page, for a reader in another time zone than the cluster. */
import { expect, it, vi } from 'vitest'
import { formatClock, formatTime } from './format.ts'

it('has date and clock of one time zone, that of the reader', () => {
  vi.stubEnv('TZ', 'Asia/Tokyo')
  const time = '2026-11-17T20:30:00Z'
  expect(formatClock(time)).toBe('05:30:00')
  expect(formatTime(time, Date.parse('2026-11-20T12:00:00Z'))).toBe('2026-11-18 05:30:00')
  expect(formatTime(time, Date.parse('2026-11-18T12:00:00Z'))).toBe('05:30:00')
  vi.unstubAllEnvs()
})

it('returns a text that is no time as it is', () => {
  expect(formatTime('soon')).toBe('soon')
})
