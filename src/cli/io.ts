/**
 * The world as a command sees it: streams, environment, terminal. Passed in, so that a test can be the terminal.
 */

import { processTerminal, type Terminal } from './terminal.ts'

export interface Io {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  readonly stdin: NodeJS.ReadableStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Whether a person can be asked (stdin and stderr are terminals). */
  readonly interactive: boolean
  /** Colour on this stream; off for NO_COLOR, TERM=dumb and pipes. */
  readonly colour: { readonly stdout: boolean; readonly stderr: boolean }
  readonly columns: number
  /** Where progress may be drawn; absent for pipes, CI and TERM=dumb. */
  readonly terminal?: Terminal
  /** Aborted by the first Ctrl-C: finish the write in flight, then stop. */
  readonly stop: AbortSignal
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
