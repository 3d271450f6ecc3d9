/**
 * Writes JSON values as YAML that readers of YAML 1.1 and of YAML 1.2 parse to the same values.
 *
 * Its own small emitter, because a library's costs many times the rest of a render. Block style, no anchors, keys in
 * the order of the object, sequences at the column of their key as kubectl prints them. Whatever could be taken for
 * something else than text stands in double quotes; only words and addresses go bare.
 */

/** Words that one reader or another takes for a boolean, null, a number or a merge. */
const TAKEN = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i
/** Text that no reader takes for anything else: it starts with a letter and has no sign of YAML's in it. */
const WORD = /^[A-Za-z_/][\w./@%+=()-]*(?::+[\w./@%+=()-]+)*(?: [\w./@%+=(][\w./@%+=(),;-]*)*$/
/** Addresses, prefixes and ranges: digits and dots, but never a number, because there are three dots. */
const ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,3})?(?:-\d{1,3}(?:\.\d{1,3}){3})?$/
const QUANTITY = /^\d+[KMGT]i$/
/** What a literal block can hold: printable text whose first line is not indented. */
const BLOCK = new RegExp(
  '^[^\\s\\u0000-\\u001f\\u007f-\\u009f]' +
    '[^\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff\\ud800-\\udfff]*$',
)
/** Printable for JSON but a line break, a mark or nothing at all for YAML. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g
/** A key up to here fits on one line for every reader. */
const LONGEST_KEY = 500

/** How each text of this run is written: keys and values repeat, and looking one up is cheaper than judging it again. */
type Known = Map<string, string>

export function writeYaml(value: unknown): string {
  return documentOf(value, new Map())
}

/** A stream of documents, each with its own mark, so that streams can be joined. */
export function writeYamlStream(values: Iterable<unknown>): string {
  const known: Known = new Map()
  const documents: Buffer[] = []
  // Text that is put together stays a list of its parts until somebody reads it: of a whole site, these are too many.
  for (const value of values) documents.push(Buffer.from(`---\n${documentOf(value, known)}`))
  return Buffer.concat(documents).toString()
}

function documentOf(value: unknown, known: Known): string {
  if (isEmptyOrScalar(value)) return `${scalar(value, '  ', known)}\n`
  return Array.isArray(value) ? sequence(value, '', known) : mapping(value as Record<string, unknown>, '', '', known)
}

/** The first key follows `first`: a dash has already moved it in. */
function mapping(value: Record<string, unknown>, indent: string, first: string, known: Known): string {
  let text = ''
  let lead = first
  const inner = `${indent}  `
  for (const key in value) {
    const member = value[key]
    if (member === undefined) continue
    text += lead + keyText(key, indent, known)
    lead = indent
    if (typeof member === 'string') text += ` ${textOf(member, inner, known)}\n`
    else if (isEmptyOrScalar(member)) text += ` ${scalar(member, inner, known)}\n`
    else if (Array.isArray(member)) text += `\n${sequence(member, indent, known)}`
    else text += `\n${mapping(member as Record<string, unknown>, inner, inner, known)}`
  }
  return text
}

function sequence(values: readonly unknown[], indent: string, known: Known): string {
  let text = ''
  const inner = `${indent}  `
  for (const item of values) {
    if (isEmptyOrScalar(item)) text += `${indent}- ${scalar(item, inner, known)}\n`
    else if (Array.isArray(item)) text += `${indent}- ${sequence(item, inner, known).slice(inner.length)}`
    else text += mapping(item as Record<string, unknown>, inner, `${indent}- `, known)
  }
  return text
}

function isEmptyOrScalar(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.length === 0
  for (const key in value) if ((value as Record<string, unknown>)[key] !== undefined) return false
  return true
}

function keyText(key: string, indent: string, known: Known): string {
  const text = lineOf(key, known)
  return text.length > LONGEST_KEY ? `? ${text}\n${indent}:` : `${text}:`
}

function scalar(value: unknown, indent: string, known: Known): string {
  if (typeof value === 'string') return textOf(value, indent, known)
  if (typeof value === 'number') return numberOf(value)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[]' : '{}'
  return typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : 'null'
}

function textOf(value: string, indent: string, known: Known): string {
  if (value.includes('\n') && BLOCK.test(value)) return literal(value, indent)
  return lineOf(value, known)
}

/** A text on one line, bare or in quotes. */
function lineOf(value: string, known: Known): string {
  const before = known.get(value)
  if (before !== undefined) return before
  const text = isBare(value) ? value : quoted(value)
  known.set(value, text)
  return text
}

function isBare(value: string): boolean {
  return (WORD.test(value) && !TAKEN.test(value)) || ADDRESS.test(value) || QUANTITY.test(value)
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

function quoted(value: string): string {
  const json = JSON.stringify(value)
  return json.replace(UNPRINTABLE, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** YAML 1.1 takes `1e21` for text: a number with an exponent needs a point. */
function numberOf(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return Object.is(value, -0) ? '-0.0' : String(value)
  if (Number.isNaN(value)) return '.nan'
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf'
  const text = String(value)
  return text.includes('e') && !text.includes('.') ? text.replace('e', '.0e') : text
}
