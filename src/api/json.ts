/** Reads JSON values of unknown shape without trusting them. Fields of objects by path: `raw-object.ts`. */

export type JsonRecord = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

export function asStrings(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return asList(value).filter((item): item is string => typeof item === 'string')
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A whole number, as a number or as text: values files contain both. */
export function asInteger(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isInteger(value)) return value
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : undefined
}
