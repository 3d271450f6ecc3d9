/**
 * Writes JSON values as YAML that YAML 1.1 and YAML 1.2 parsers read identically.
 *
 * A small emitter, because a library takes many times as long as the rest of a render. Block style, no anchors, keys in
 * the order of the object, sequences at the column of their key as kubectl prints them. Text that a parser could take for
 * another type is in double quotes; only words and addresses are plain.
 */

/** Words that some parsers read as a boolean, null, a number or a merge. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i
/** Text that every parser reads as text: it starts with a letter and contains no YAML indicator. */
const WORD = /^[A-Za-z_/][\w./@%+=()-]*(?::+[\w./@%+=()-]+)*(?: [\w./@%+=(][\w./@%+=(),;-]*)*$/
/** Addresses, prefixes and ranges: never a number, because they contain three dots. */
const ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,3})?(?:-\d{1,3}(?:\.\d{1,3}){3})?$/
const QUANTITY = /^\d+[KMGT]i$/
/** Text that a literal block can contain: printable, with a first line that is not indented. */
const BLOCK = new RegExp(
  '^[^\\s\\u0000-\\u001f\\u007f-\\u009f]' +
    '[^\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff\\ud800-\\udfff]*$',
)
/** Printable in JSON, but a line break, a byte order mark or not allowed in YAML. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g
/** Every parser accepts a key of this length on one line. */
const MAX_KEY_LENGTH = 500

/** The formatted form of each text: keys and values repeat, and a lookup is cheaper than formatting. */
type ScalarCache = Map<string, string>

export function writeYaml(value: unknown): string {
  return formatDocument(value, new Map())
}

/** Writes a stream of documents, each with its own marker, so that streams can be concatenated. */
export function writeYamlStream(values: Iterable<unknown>): string {
  const cache: ScalarCache = new Map()
  const documents: Buffer[] = []
  // A concatenated string stays a tree of its parts until it is read; for a whole site that is too much memory.
  for (const value of values) documents.push(Buffer.from(`---\n${formatDocument(value, cache)}`))
  return Buffer.concat(documents).toString()
}

function formatDocument(value: unknown, cache: ScalarCache): string {
  if (isEmptyOrScalar(value)) return `${scalar(value, '  ', cache)}\n`
  return Array.isArray(value) ? sequence(value, '', cache) : mapping(value as Record<string, unknown>, '', '', cache)
}

/** The first key follows `first`: after a dash it is already indented. */
function mapping(value: Record<string, unknown>, indent: string, first: string, cache: ScalarCache): string {
  let text = ''
  let lead = first
  const inner = `${indent}  `
  for (const key in value) {
    const member = value[key]
    if (member === undefined) continue
    text += lead + keyText(key, indent, cache)
    lead = indent
    if (typeof member === 'string') text += ` ${formatText(member, inner, cache)}\n`
    else if (isEmptyOrScalar(member)) text += ` ${scalar(member, inner, cache)}\n`
    else if (Array.isArray(member)) text += `\n${sequence(member, indent, cache)}`
    else text += `\n${mapping(member as Record<string, unknown>, inner, inner, cache)}`
  }
  return text
}

function sequence(values: readonly unknown[], indent: string, cache: ScalarCache): string {
  let text = ''
  const inner = `${indent}  `
  for (const item of values) {
    if (isEmptyOrScalar(item)) text += `${indent}- ${scalar(item, inner, cache)}\n`
    else if (Array.isArray(item)) text += `${indent}- ${sequence(item, inner, cache).slice(inner.length)}`
    else text += mapping(item as Record<string, unknown>, inner, `${indent}- `, cache)
  }
  return text
}

function isEmptyOrScalar(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.length === 0
  for (const key in value) if ((value as Record<string, unknown>)[key] !== undefined) return false
  return true
}

function keyText(key: string, indent: string, cache: ScalarCache): string {
  const text = formatLine(key, cache)
  return text.length > MAX_KEY_LENGTH ? `? ${text}\n${indent}:` : `${text}:`
}

function scalar(value: unknown, indent: string, cache: ScalarCache): string {
  if (typeof value === 'string') return formatText(value, indent, cache)
  if (typeof value === 'number') return formatNumber(value)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[]' : '{}'
  return typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : 'null'
}

function formatText(value: string, indent: string, cache: ScalarCache): string {
  if (value.includes('\n') && BLOCK.test(value)) return literal(value, indent)
  return formatLine(value, cache)
}

/** Formats a text on one line, plain or quoted. */
function formatLine(value: string, cache: ScalarCache): string {
  const cached = cache.get(value)
  if (cached !== undefined) return cached
  const text = isBare(value) ? value : quoted(value)
  cache.set(value, text)
  return text
}

export function isBare(value: string): boolean {
  return (WORD.test(value) && !RESERVED.test(value)) || ADDRESS.test(value) || QUANTITY.test(value)
}

function literal(value: string, indent: string): string {
  const lines = value.split('\n')
  let last = lines.length
  while (last > 0 && lines[last - 1] === '') last -= 1
  const blank = lines.length - 1 - last
  const mark = blank < 0 ? '|-' : blank === 0 ? '|' : '|+'
  const body = (blank < 0 ? lines : lines.slice(0, -1)).map((line) => (line === '' ? '' : indent + line))
  return `${mark}\n${body.join('\n')}`
}

export function quoted(value: string): string {
  const json = JSON.stringify(value)
  return json.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** YAML 1.1 reads `1e21` as text: a number with an exponent needs a point. */
function formatNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return Object.is(value, -0) ? '-0.0' : String(value)
  if (Number.isNaN(value)) return '.nan'
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf'
  const text = String(value)
  return text.includes('e') && !text.includes('.') ? text.replace('e', '.0e') : text
}
