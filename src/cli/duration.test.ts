import { describe, expect, it } from 'vitest'
import { parseDuration } from './duration.ts'

describe('a duration', () => {
  it.each([
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['500ms', 500],
    ['1.5h', 5_400_000],
  ])('is parsed as in Go: %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', '90', 's', '1h 30m', '-5s', '1d'])('does not accept %j', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })
})
