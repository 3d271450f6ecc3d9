/** Looking into values of unknown shape without trusting any of it. */

export type Loose = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function recordOf(value: unknown): Loose {
  return isRecord(value) ? value : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

export function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return listOf(value).filter((one): one is string => typeof one === 'string')
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A whole number, as such or as text: values files write both. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isInteger(value)) return value
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : undefined
}
