/**
 * Masks known secrets in the output of a program.
 *
 * Pure. Knows only the secrets that are passed to it.
 */

export type Redact = (text: string) => string

const MASK = '******'

/** Shorter words occur by chance in normal text; masking them would hide more than it protects. */
const SHORTEST = 4

export function createRedactor(secrets: readonly string[]): Redact {
  // A key file is a secret of many lines, and output is read line by line: each line is masked separately.
  const words = secrets
    .flatMap((secret) => [secret, ...secret.split(/\r?\n/)])
    .filter((word) => word.trim().length >= SHORTEST && !/^-----(BEGIN|END) /.test(word))
  if (words.length === 0) return (text) => text
  // The longest first, so that a secret that contains another one is masked completely.
  const longestFirst = [...new Set(words)].sort((a, b) => b.length - a.length)
  return (text) => longestFirst.reduce((masked, word) => masked.replaceAll(word, MASK), text)
}
