/** Repeats work until it does not throw, also in benches, where vitest's own function cannot run. */
import { setTimeout as sleep } from 'node:timers/promises'

export async function waitFor<T>(
  work: () => T | Promise<T>,
  { timeout, interval }: { readonly timeout: number; readonly interval: number },
): Promise<T> {
  const end = performance.now() + timeout
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() > end) throw error
    }
    await sleep(interval)
  }
}
