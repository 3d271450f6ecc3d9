/** Orders names and other texts, the same on every machine. */

export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

const names = new Intl.Collator('en', { numeric: true })

/** `compute-2` before `compute-10`. */
export function compareNames(a: string, b: string): number {
  return names.compare(a, b) || compareText(a, b)
}
