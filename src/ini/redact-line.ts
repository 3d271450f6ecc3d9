/** Masks credentials in a line of a snippet, because findings are written to logs and conditions. */

const SECRET_WORD = /((?:password|passwd|secret|token|passphrase|api_?key|private_?key)\w*["']?[ \t]*[:= \t])[^]*$/i
const URL_PASSWORD = /(:\/\/[^:@/\s]*:)[^@\s]*@/g

export function redactLine(text: string): string {
  const safe = text.replace(URL_PASSWORD, '$1***@').replace(SECRET_WORD, '$1 ***')
  return safe.length > 80 ? `${safe.slice(0, 79)}…` : safe
}
