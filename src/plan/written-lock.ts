/**
 * Writes the lock as text, and reads a lock that is as this version writes it. Pure.
 *
 * Any other lock is read by `lock-file.ts`, which takes longer and says what is wrong with it.
 */
import { fitSchema, MISFIT, readSchema } from '../api/fit-schema.ts'
import { readWritten } from '../yaml/read-written.ts'
import { writeYaml } from '../yaml/write.ts'
import type { Lock } from './lock.ts'

/** Comments, so that earlier versions read the file; their locks have neither line. */
export const MARKED = '# The last line marks its end.'
export const END = '# End of the lock.'

const HEADER = `# Written by stackloom: what the planner gave to whom. Commit it; do not edit it.
# Nothing in it moves unless you say so (stackloom plan --allow-move NAME).
${MARKED}
`
const FOOTER = `${END}\n`

const KIND = { apiVersion: 'stackloom.dev/v1alpha1', kind: 'SiteLock' }

export function writeLock(lock: Lock): string {
  return `${HEADER}${writeYaml({ ...KIND, ...lock })}${FOOTER}`
}

/** Undefined for a text that this version did not write. */
export function readWrittenLock(text: string): Lock | undefined {
  if (!text.startsWith(HEADER) || !text.endsWith(FOOTER)) return undefined
  const value = readWritten(text.slice(HEADER.length, -FOOTER.length))
  const fitted = value === undefined ? MISFIT : fitSchema(readSchema('lock'), value)
  if (fitted === MISFIT) return undefined
  const { apiVersion: _, kind: __, ...lock } = fitted as Lock & typeof KIND
  return lock
}
