/** Finds keys that no file may have. Pure. */
import type { ValuePath } from '../yaml/locate.ts'

/** Zod leaves it out of every mapping, without an issue. */
export const RESERVED = '__proto__'

export function findReservedKeys(value: unknown, path: ValuePath = []): readonly ValuePath[] {
  if (typeof value !== 'object' || value === null) return []
  const found: ValuePath[] = Object.hasOwn(value, RESERVED) ? [[...path, RESERVED]] : []
  for (const [key, child] of Object.entries(value)) {
    if (typeof child !== 'object') continue
    found.push(...findReservedKeys(child, [...path, Array.isArray(value) ? Number(key) : key]))
  }
  return found
}
