/**
 * One gate for all writes of a run: stages run side by side, and each has many objects. Without it a run of fifty clouds
 * would stand in its own way: the renewal of its Lease would wait behind hundreds of its own writes.
 */

/** Does the act when there is room; whoever came first goes first. */
export type Limiter = <T>(act: () => Promise<T>) => Promise<T>

export function createLimiter(atOnce: number): Limiter {
  let free = atOnce
  const waiting: (() => void)[] = []
  return async (act) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await act()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
