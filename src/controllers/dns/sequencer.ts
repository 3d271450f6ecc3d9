/**
 * Orders work by key: lets a follower wait until the work that has seen its change is done.
 *
 * Knows no kind and no cluster. Work that fails counts as done, so that the follower continues.
 */

export interface Sequencer {
  /** Something changed that the next work on this key will see. */
  readonly request: (key: string) => void
  /** Starts work that sees everything so far; the returned function finishes it. */
  readonly begin: (key: string) => () => void
  /** Resolves when no requested or running work on this key is left. */
  readonly settled: (key: string) => Promise<void>
}

interface Work {
  readonly done: Promise<void>
  readonly finish: () => void
}

export function createSequencer(): Sequencer {
  const requested = new Map<string, Work>()
  const running = new Map<string, Work>()
  return {
    request: (key) => {
      if (!requested.has(key)) requested.set(key, createWork())
    },
    begin: (key) => {
      const work = requested.get(key) ?? createWork()
      requested.delete(key)
      running.set(key, work)
      return () => {
        if (running.get(key) === work) running.delete(key)
        work.finish()
      }
    },
    settled: async (key) => (requested.get(key) ?? running.get(key))?.done,
  }
}

function createWork(): Work {
  let finish = (): void => {}
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  return { done, finish }
}
