/** A terminal that can be drawn on: its size may change at any time. */

export interface Terminal {
  readonly write: (text: string) => void
  readonly columns: () => number
  readonly rows: () => number
  /** Calls back after each change of size, until the returned function is called. */
  readonly onResize: (changed: () => void) => () => void
  /** Undoes what was done to the terminal, also when the program is ended by force; the returned function unsubscribes. */
  readonly onExit: (restore: () => void) => () => void
}

export function processTerminal(stream: NodeJS.WriteStream): Terminal {
  return {
    write: (text) => void stream.write(text),
    columns: () => stream.columns ?? 80,
    rows: () => stream.rows ?? 24,
    onResize: (changed) => {
      stream.on('resize', changed)
      return () => stream.off('resize', changed)
    },
    onExit: (restore) => {
      // The first Ctrl-C asks for a safe stop; whoever presses it again wants out, with a usable terminal.
      let asked = 0
      const signalled = (): void => {
        asked += 1
        if (asked < 2) return
        restore()
        process.exit(130)
      }
      process.on('exit', restore)
      process.on('SIGINT', signalled)
      return () => {
        process.off('exit', restore)
        process.off('SIGINT', signalled)
      }
    },
  }
}
