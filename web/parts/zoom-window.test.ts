import { describe, expect, it } from 'vitest'
import { formatWindow, inWindow, parseWindow, scaleWindow, WHOLE } from './zoom-window.ts'

describe('scaleWindow', () => {
  it('keeps what is under the pointer at its place', () => {
    const window = { from: 0.2, to: 0.6 }
    const zoomed = scaleWindow(window, 0.5, 0.3)
    expect(inWindow(zoomed, 0.3)).toBeCloseTo(inWindow(window, 0.3))
    expect(zoomed.to - zoomed.from).toBeCloseTo(0.2)
  })

  it('never leaves the subnet', () => {
    expect(scaleWindow({ from: 0.9, to: 1 }, 100)).toEqual(WHOLE)
    expect(scaleWindow({ from: 0.8, to: 1 }, 2, 0.99).to).toBeLessThanOrEqual(1)
    expect(scaleWindow({ from: 0, to: 0.1 }, 2, 0.01).from).toBeGreaterThanOrEqual(0)
  })
})

describe('parseWindow', () => {
  it('reads what formatWindow writes, also very small parts', () => {
    const window = { from: 0.000000125, to: 0.00000025 }
    expect(parseWindow(formatWindow(window))).toEqual(window)
  })

  it('shows the whole subnet for anything else', () => {
    for (const text of ['', 'x', '0.5', '0.6..0.5', '-1..2', '..']) expect(parseWindow(text)).toEqual(WHOLE)
  })

  it('leaves the whole subnet out of the address', () => {
    expect(formatWindow(WHOLE)).toBe('')
  })
})
