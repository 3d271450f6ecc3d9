/** Quotes words for a POSIX shell: for scripts, and for commands that are printed to be copied. Pure. */

export function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

export function formatShellCommand(words: readonly string[]): string {
  return words.map(quoteShellWord).join(' ')
}
