/** Decodes UTF-8, drops a byte order mark, and rejects the control characters that YAML forbids. */
import { controlCharacter, notUtf8 } from '../errors/file.ts'
import { type FileLocation, type Finding, finding } from '../errors/finding.ts'

export interface Decoded {
  readonly text: string
  readonly findings: readonly Finding[]
}

// oxlint-disable-next-line no-control-regex -- it searches for control characters
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

export function decodeText(input: string | Uint8Array, file: string): Decoded {
  const text = typeof input === 'string' ? input : new TextDecoder('utf-8', { ignoreBOM: true }).decode(input)
  if (typeof input !== 'string') {
    const byte = firstBadByte(input)
    if (byte !== undefined) {
      const where = locateOffset(text, text.indexOf('\ufffd'), file)
      return { text, findings: [finding(notUtf8, { byte }, { where })] }
    }
  }
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text
  const control = FORBIDDEN.exec(plain)
  if (!control) return { text: plain, findings: [] }
  const code = `U+${control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
  const where = locateOffset(plain, control.index, file)
  return { text: plain, findings: [finding(controlCharacter, { code }, { where })] }
}

/** The offset of the first byte that is not UTF-8, by bisection: decoding is fast, scanning bytes in JavaScript is not. */
function firstBadByte(bytes: Uint8Array): number | undefined {
  if (isUtf8(bytes, false)) return undefined
  let good = 0
  let bad = bytes.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (isUtf8(bytes.subarray(0, middle), true)) good = middle
    else bad = middle
  }
  return good
}

/** `stream` allows a truncated character at the end. */
function isUtf8(bytes: Uint8Array, stream: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream })
    return true
  } catch {
    return false
  }
}

function locateOffset(text: string, offset: number, file: string): FileLocation {
  const before = text.slice(0, Math.max(0, offset))
  const lineStart = before.lastIndexOf('\n') + 1
  return { file, line: before.split('\n').length, column: before.length - lineStart + 1 }
}
