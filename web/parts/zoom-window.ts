/** The visible part of a bar: arithmetic of zooming, and its text in the address. Pure. */

/** The visible part of a bar, in fractions of the subnet. */
export interface Window {
  readonly from: number
  readonly to: number
}

export const WHOLE: Window = { from: 0, to: 1 }

/** Where a fraction of the subnet is in the window, in per cent. */
export function inWindow({ from, to }: Window, fraction: number): number {
  return ((fraction - from) / (to - from)) * 100
}

export function sortWindow({ from, to }: Window): Window {
  return from <= to ? { from, to } : { from: to, to: from }
}

/** A span with a little of what is beside it. */
export function widen({ from, to }: Window): Window {
  const margin = Math.max((to - from) * 0.05, 1e-9)
  return { from: Math.max(0, from - margin), to: Math.min(1, to + margin) }
}

export function scaleWindow({ from, to }: Window, factor: number, around = (from + to) / 2): Window {
  const width = Math.min(1, (to - from) * factor)
  const part = (around - from) / (to - from)
  const start = Math.min(1 - width, Math.max(0, around - width * part))
  return { from: start, to: start + width }
}

export function parseWindow(text: string): Window {
  const [from, to] = text.split('..').map(Number)
  const valid = from !== undefined && to !== undefined && from >= 0 && to <= 1 && from < to
  return valid ? { from, to } : WHOLE
}

export function formatWindow({ from, to }: Window): string {
  return from <= 0 && to >= 1 ? '' : `${Number(from.toPrecision(9))}..${Number(to.toPrecision(9))}`
}
