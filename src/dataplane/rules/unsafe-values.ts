/**
 * Marks texts of objects for Ansible, which otherwise evaluates expressions in them.
 *
 * Pure. A text that no template language can read as more than text stays unmarked, so that inventories look as
 * upstream's.
 */
import { Scalar, stringify } from 'yaml'

export const UNSAFE_TAG = '!unsafe'

/** Names, addresses, paths and image references. */
const PLAIN_TEXT = /^[\w.:/@%+, -]*$/

/** Replaces each text that may be more than text by a tagged node for the YAML writer. */
export function markUnsafe(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, markValue(value)]))
}

function markValue(value: unknown): unknown {
  if (typeof value === 'string') return PLAIN_TEXT.test(value) ? value : taggedText(value)
  if (Array.isArray(value)) return value.map(markValue)
  return typeof value === 'object' && value !== null ? markUnsafe(value as Readonly<Record<string, unknown>>) : value
}

function taggedText(text: string): Scalar {
  const scalar = new Scalar(text)
  scalar.tag = UNSAFE_TAG
  // Without quotes the tag would hide that the text is a string.
  scalar.type = 'QUOTE_DOUBLE'
  return scalar
}

/** JSON where no text needs a mark; else the same in YAML, because only YAML has tags. */
export function formatUnsafeJson(values: Readonly<Record<string, unknown>>): string {
  const text = stringify(markUnsafe(values), { lineWidth: 0, version: '1.1', aliasDuplicateObjects: false })
  return text.includes(UNSAFE_TAG) ? text : JSON.stringify(values)
}
