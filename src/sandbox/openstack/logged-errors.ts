/** Finds the errors that services log while they do not answer as they should: the answer itself rarely has the cause. */
import { open, stat } from 'node:fs/promises'

/** A long traceback is some ten kilobytes. */
const MOST_BYTES = 256 * 1024
const MOST_CHARACTERS = 300

export interface LoggedErrors {
  /** What these files have so far is no cause of later failures. */
  readonly forget: (files: readonly string[]) => Promise<void>
  readonly findCause: (files: readonly string[]) => Promise<string | undefined>
}

export function watchLogs(): LoggedErrors {
  const read = new Map<string, number>()
  const sizeOf = async (file: string): Promise<number> => (await stat(file).catch(() => undefined))?.size ?? 0
  return {
    forget: async (files) => {
      for (const file of files) read.set(file, await sizeOf(file))
    },
    findCause: async (files) => {
      const causes = await Promise.all(
        files.map(async (file) => findCause(await readEnd(file, read.get(file) ?? 0, await sizeOf(file)))),
      )
      return causes.find((cause) => cause !== undefined)
    },
  }
}

async function readEnd(file: string, from: number, to: number): Promise<string> {
  const start = Math.max(from, to - MOST_BYTES)
  if (start >= to) return ''
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(to - start), 0, to - start, start)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** The head of a line of oslo.log: time, process, level, module and request. */
const HEAD = /^\S+ \S+ \d+ (?:ERROR|CRITICAL) \S+ (?:\[[^\]]*\] ?)?/
/** The last line of a traceback names the cause; SQLAlchemy adds further ones. */
const CAUSE = /^[\w.]*(?:Error|Exception|Denied|Refused|Failure|NotFound|Unauthorized|Timeout)\w*:? /
/** A line of MariaDB. */
const DATABASE = /^\S+ +\S+ \d+ \[ERROR\] /

/** Of MariaDB the first error, because it logs what follows from it; of OpenStack the last one. */
export function findCause(log: string): string | undefined {
  const escapes = new RegExp(`${String.fromCodePoint(27)}\\[[0-9;]*m`, 'g')
  const lines = log.replaceAll(escapes, '').split('\n')
  const messagesOf = (head: RegExp): readonly string[] =>
    lines
      .filter((line) => head.test(line))
      .map((line) => line.replace(head, '').trim())
      .filter((message) => message !== '')
  const messages = messagesOf(HEAD)
  const found = messagesOf(DATABASE)[0] ?? messages.findLast((message) => CAUSE.test(message)) ?? messages.at(-1)
  return found?.slice(0, MOST_CHARACTERS)
}
