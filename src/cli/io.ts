/** Streams, environment and terminal of a command. Passed in, so that a test can be the terminal. */
import { setMaxListeners } from 'node:events'
import { fstatSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'

export interface Io {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  /** Where errors go when `--quiet` silences `stderr`. */
  readonly alert?: ((text: string) => void) | undefined
  /** What the command reads, writes and sends, with `--verbose`. */
  readonly verbose?: ((text: string) => void) | undefined
  readonly stdin: NodeJS.ReadableStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The words after the name of the program. */
  readonly commandLine?: readonly string[] | undefined
  /** Whether the user can be asked: stdin and stderr are terminals. */
  readonly interactive: boolean
  /** Whether a stream may be coloured; false for NO_COLOR, TERM=dumb and pipes. */
  readonly colour: { readonly stdout: boolean; readonly stderr: boolean }
  readonly columns: number
  /** The version of Node that runs the program; absent where it does not matter. */
  readonly nodeVersion?: string
  /** Where progress may be drawn; absent for pipes, CI and TERM=dumb. */
  readonly terminal?: Terminal | undefined
  /** Aborted by the first Ctrl-C: finish the write in flight, then stop. Asking for it promises to stop at it. */
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

/** The streams of the process, and how its output ended. */
export interface ProcessIo extends Io {
  /** Resolves when all output is written; an error other than a reader that closed its pipe is returned. */
  readonly flush: () => Promise<Error | undefined>
}

export function processIo(): ProcessIo {
  const { env, stdout, stderr } = process
  const plain = Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb'
  const stopping = new AbortController()
  const stop = lazyStopSignal(stopping)
  // Without a reader, a command that follows something would go on forever.
  const output = createOutput(stdout, 1, () => stopping.abort())
  return {
    stdout: output.write,
    stderr: createOutput(stderr, 2, () => undefined).write,
    // Opened when it is read.
    get stdin() {
      return process.stdin
    },
    env,
    cwd: process.cwd(),
    interactive: isatty(0) && Boolean(stderr.isTTY) && !env['CI'],
    colour: { stdout: Boolean(stdout.isTTY) && !plain, stderr: Boolean(stderr.isTTY) && !plain },
    columns: stdoutColumns(stdout.columns, env['COLUMNS']),
    nodeVersion: process.version,
    ...(stderr.isTTY && env['TERM'] !== 'dumb' && !env['CI'] && { terminal: processTerminal(stderr) }),
    get stop() {
      return stop()
    },
    flush: output.flush,
  }
}

/**
 * A command that never asks for the signal cannot stop safely at one, so it keeps the default action: the system ends it
 * at once, even while it computes. The second signal always has the default action.
 */
function lazyStopSignal(stop: AbortController): () => AbortSignal {
  let listens = false
  return () => {
    if (listens) return stop.signal
    listens = true
    // Node warns of a leak at eleven listeners; here each is a program or a request in flight.
    setMaxListeners(0, stop.signal)
    process.once('SIGINT', () => stop.abort())
    process.once('SIGTERM', () => stop.abort())
    return stop.signal
  }
}

interface Output {
  readonly write: (text: string) => void
  readonly flush: () => Promise<Error | undefined>
}

/** After the first error nothing more is written: the rest would be a file with a gap. */
function createOutput(stream: NodeJS.WriteStream, fd: number, onClosed: () => void): Output {
  let failed: NodeJS.ErrnoException | undefined
  const fail = (error: NodeJS.ErrnoException): void => {
    failed ??= error
    if (error.code === 'EPIPE') onClosed()
  }
  stream.on('error', fail)
  // Node's stream for files takes a short write, as on a disk that becomes full, for a complete one.
  const isFile = !stream.isTTY && isFileDescriptor(fd)
  return {
    write: (text) => {
      if (failed) return
      if (!isFile) return void stream.write(text)
      try {
        writeCompletely(fd, text)
      } catch (error) {
        fail(error as NodeJS.ErrnoException)
      }
    },
    flush: async () => {
      if (!failed && !isFile) await new Promise<void>((resolve) => stream.write('', () => resolve()))
      // `| head` closes the pipe early: that is no failure of the command.
      return failed?.code === 'EPIPE' ? undefined : failed
    },
  }
}

function isFileDescriptor(fd: number): boolean {
  try {
    const stat = fstatSync(fd)
    return stat.isFile() || stat.isCharacterDevice()
  } catch {
    return false
  }
}

function writeCompletely(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(fd, bytes, offset)
}

/** Text for a pipe or a file is not cut, unless COLUMNS says how wide it may be. */
function stdoutColumns(terminal: number | undefined, variable: string | undefined): number {
  const given = Number(variable)
  return terminal ?? (Number.isInteger(given) && given > 0 ? given : Number.POSITIVE_INFINITY)
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
