/** The terminal of a test: collects output and provides no input. */
import { Readable } from 'node:stream'
import type { Io } from '../src/cli/io.ts'

export interface TestIo extends Io {
  readonly out: () => string
  readonly err: () => string
}

export function testIo(overrides: Partial<Io> = {}): TestIo {
  let out = ''
  let err = ''
  return {
    stdout: (text) => void (out += text),
    stderr: (text) => void (err += text),
    stdin: Readable.from([]),
    env: {},
    cwd: process.cwd(),
    interactive: false,
    colour: { stdout: false, stderr: false },
    columns: 80,
    stop: new AbortController().signal,
    ...overrides,
    out: () => out,
    err: () => err,
  }
}
