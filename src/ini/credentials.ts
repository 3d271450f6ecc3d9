/**
 * Finds credentials in a line of text.
 *
 * Pure, and linear in the line: a tenant may write a megabyte, for which an expression that tries every start takes
 * minutes.
 */

export interface TextSpan {
  readonly start: number
  readonly end: number
}

/** The passwords of `scheme://user:password@host`; one may be empty. */
export function findUrlPasswords(line: string): readonly TextSpan[] {
  const found: TextSpan[] = []
  let position = line.indexOf('://')
  while (position >= 0) {
    const userEnd = findAny(line, position + 3, ':@/')
    if (line[userEnd] === ':') {
      const end = findAny(line, userEnd + 1, '@')
      if (line[end] === '@') found.push({ start: userEnd + 1, end })
      position = line.indexOf('://', end)
    } else position = line.indexOf('://', userEnd)
  }
  return found
}

/** The value of `password: value` or `"api_key" = 'value'`, if the line is such an assignment. */
export function findAssignedCredential(line: string): string | undefined {
  const [, name = '', value] = /^\s*["']?(\w+)["']?\s*[:=]\s*["']?([^"'\s]+)/.exec(line) ?? []
  return /password|passwd|secret|token|passphrase|key/i.test(name) ? value : undefined
}

/** The position after `password =`, wherever it is in the line: what follows may be a secret. */
export function findSecretStart(line: string): number | undefined {
  const separator = /["']?[ \t]*[:= \t]/y
  for (const { 0: word, index } of line.matchAll(/\w+/g)) {
    if (!/password|passwd|secret|token|passphrase|api_?key|private_?key/i.test(word)) continue
    separator.lastIndex = index + word.length
    if (separator.test(line)) return separator.lastIndex
  }
  return undefined
}

/** The position of the first of these characters or of white space, or the end. */
function findAny(line: string, start: number, characters: string): number {
  let index = start
  while (index < line.length && !characters.includes(line.charAt(index)) && line.charAt(index).trim() !== '') index += 1
  return index
}
