/** Streams, environment and terminal of a command. Passed in, so that a test can be the terminal. */

export interface Io {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  readonly stdin: NodeJS.ReadableStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Whether the user can be asked: stdin and stderr are terminals. */
  readonly interactive: boolean
  /** Whether a stream may be coloured; false for NO_COLOR, TERM=dumb and pipes. */
  readonly colour: { readonly stdout: boolean; readonly stderr: boolean }
  readonly columns: number
  /** Where progress may be drawn; absent for pipes, CI and TERM=dumb. */
  readonly terminal?: Terminal
  /** Aborted by the first Ctrl-C: finish the write in flight, then stop. */
  readonly stop: AbortSignal
}

/** A terminal that can be drawn on. Its size may change at any time. */
export interface Terminal {
  readonly write: (text: string) => void
  readonly columns: () => number
  readonly rows: () => number
  /** Calls back after each change of size; the returned function unsubscribes. */
  readonly onResize: (changed: () => void) => () => void
  /** Calls `restore` at exit and at the second Ctrl-C; the returned function unsubscribes. */
  readonly onExit: (restore: () => void) => () => void
}

export function processIo(): Io {
  const { env, stdin, stdout, stderr } = process
  const plain = Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb'
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  process.once('SIGTERM', () => stop.abort())
  return {
    stdout: (text) => void stdout.write(text),
    stderr: (text) => void stderr.write(text),
    stdin,
    env,
    cwd: process.cwd(),
    interactive: Boolean(stdin.isTTY && stderr.isTTY) && !env['CI'],
    colour: { stdout: Boolean(stdout.isTTY) && !plain, stderr: Boolean(stderr.isTTY) && !plain },
    columns: stdout.columns ?? stderr.columns ?? 80,
    ...(stderr.isTTY && env['TERM'] !== 'dumb' && !env['CI'] && { terminal: processTerminal(stderr) }),
    stop: stop.signal,
  }
}

function processTerminal(stream: NodeJS.WriteStream): Terminal {
  return {
    write: (text) => void stream.write(text),
    columns: () => stream.columns ?? 80,
    rows: () => stream.rows ?? 24,
    onResize: (changed) => {
      stream.on('resize', changed)
      return () => stream.off('resize', changed)
    },
    onExit: (restore) => {
      // The first Ctrl-C asks for a safe stop; the second one exits at once and must leave a usable terminal.
      let interrupts = 0
      const onInterrupt = (): void => {
        interrupts += 1
        if (interrupts < 2) return
        restore()
        process.exit(130)
      }
      process.on('exit', restore)
      process.on('SIGINT', onInterrupt)
      return () => {
        process.off('exit', restore)
        process.off('SIGINT', onInterrupt)
      }
    },
  }
}
