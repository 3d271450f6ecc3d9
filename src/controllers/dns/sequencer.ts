/**
 * Turns: whoever follows work that is done key by key waits for the turn that has seen what he has seen.
 *
 * Knows no kind and no cluster. A turn that fails is over, too: who follows goes on.
 */

export interface Sequencer {
  /** Something changed that the next turn of this key will see. */
  readonly request: (key: string) => void
  /** A turn begins now, and sees everything of now; the answer ends it. */
  readonly begin: (key: string) => () => void
  /** Resolves when nothing of now is left to be seen, or written. */
  readonly settled: (key: string) => Promise<void>
}

interface Turn {
  readonly over: Promise<void>
  readonly end: () => void
}

export function createSequencer(): Sequencer {
  const wanted = new Map<string, Turn>()
  const running = new Map<string, Turn>()
  return {
    request: (key) => {
      if (!wanted.has(key)) wanted.set(key, createTurn())
    },
    begin: (key) => {
      const own = wanted.get(key) ?? createTurn()
      wanted.delete(key)
      running.set(key, own)
      return () => {
        if (running.get(key) === own) running.delete(key)
        own.end()
      }
    },
    settled: async (key) => (wanted.get(key) ?? running.get(key))?.over,
  }
}

function createTurn(): Turn {
  let end = (): void => {}
  const over = new Promise<void>((resolve) => {
    end = resolve
  })
  return { over, end }
}
