/**
 * Secrets never leave through a program's output: what is known to be one is replaced before anybody reads it.
 *
 * Pure. Knows the secrets of one call only; where they come from is the caller's business.
 */

export type Redact = (text: string) => string

const MASK = '******'

/** Shorter words than this occur by chance in honest text; masking them would hide more than it protects. */
const SHORTEST = 4

export function createRedactor(secrets: readonly string[]): Redact {
  // A key file is a secret of many lines, and output is read line by line: each line is masked by itself.
  const words = secrets
    .flatMap((secret) => [secret, ...secret.split(/\r?\n/)])
    .filter((word) => word.trim().length >= SHORTEST && !/^-----(BEGIN|END) /.test(word))
  if (words.length === 0) return (text) => text
  // The longest first, so that a secret which contains another one is masked as a whole.
  const longestFirst = [...new Set(words)].sort((a, b) => b.length - a.length)
  return (text) => longestFirst.reduce((masked, word) => masked.replaceAll(word, MASK), text)
}
