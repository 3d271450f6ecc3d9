/** The hash of inputs: equal for equal values, whatever the order of their keys. */
import { createHash } from 'node:crypto'

/** 64 bits are plenty to tell one set of inputs from another, and short enough for a name. */
const DIGITS = 16

export function hashInputs(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, DIGITS)
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`
}
