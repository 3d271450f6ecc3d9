/** What the server says in headers: when to come back, and what it warns of. */
import type { IncomingHttpHeaders } from 'node:http'

/** Seconds, or a date. */
export function parseRetryAfter(headers: IncomingHttpHeaders, now: number): number | undefined {
  const value = headers['retry-after']
  if (value === undefined) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** `299 - "v1 Endpoints is deprecated"`, several in one header or in several. */
export function parseWarnings(headers: IncomingHttpHeaders): readonly string[] {
  const raw = headers['warning']
  if (raw === undefined) return []
  const joined = Array.isArray(raw) ? raw.join(', ') : raw
  return [...joined.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'))
}
