/** Reads VLAN ids and ranges of them as the site file has them. Pure. */
import type { VlanRange } from './plan.ts'

/** `40` or `100-199`; undefined for what is no id or range from 1 to 4094. */
export function parseVlanRange(written: number | string): VlanRange | undefined {
  const [first = Number.NaN, last = first, ...rest] = String(written).split('-').map(Number)
  const isValid = rest.length === 0 && first >= 1 && first <= last && last <= 4094
  return isValid ? { first, last } : undefined
}
