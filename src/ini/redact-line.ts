/** Masks credentials in a line of a snippet, because findings are written to logs and conditions. */
import { findSecretStart, findUrlPasswords } from './credentials.ts'

export function redactLine(text: string, length = 80): string {
  const withoutPasswords = maskUrlPasswords(text)
  const start = findSecretStart(withoutPasswords)
  const safe = start === undefined ? withoutPasswords : `${withoutPasswords.slice(0, start)} ***`
  return safe.length > length ? `${safe.slice(0, length - 1)}…` : safe
}

function maskUrlPasswords(text: string): string {
  const pieces: string[] = []
  let position = 0
  for (const { start, end } of findUrlPasswords(text)) {
    pieces.push(text.slice(position, start), '***')
    position = end
  }
  return pieces.join('') + text.slice(position)
}
