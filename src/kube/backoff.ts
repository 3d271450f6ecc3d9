/**
 * How long to wait before the next try: twice as long after each failure, up to a cap.
 */

export interface BackoffPolicy {
  readonly firstMs: number
  readonly maxMs: number
}

export function backoffMs({ firstMs, maxMs }: BackoffPolicy, failures: number): number {
  // A power grows to infinity; the cap is reached long before this many doublings.
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures, 52))
}
