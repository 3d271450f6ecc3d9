/**
 * Expands `$name` in values: oslo.config inserts the value of another option when the option is read, and fails if there
 * is no such option. `$$` and `\$` are a literal dollar sign.
 */

// The four letters that Python matches for i, k and s when it ignores case.
const LETTER = '_a-zA-Z\\u0130\\u0131\\u017f\\u212a'
const NAME = `[${LETTER}][.${LETTER}0-9]*`
const REFERENCE = new RegExp(`\\$(?:(\\$)|(${NAME})|\\{(${NAME})\\})?`, 'g')

/** The options that a value refers to, as written: `my_ip`, `libvirt.virt_type`. */
export function findReferences(value: string): readonly string[] {
  const found = [...plainDollars(value).matchAll(REFERENCE)].map((match) => match[2] ?? match[3])
  return found.filter((name) => name !== undefined)
}

export type Expansion =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'unknown-option'; readonly name: string }

/** The value that the service gets. The first unknown option ends it, as in oslo.config. */
export function expandReferences(value: string, lookup: (name: string) => string | undefined): Expansion {
  let unknown: string | undefined
  const expanded = plainDollars(value).replace(REFERENCE, (whole, escaped, named, braced) => {
    if (escaped) return '$'
    const name: string | undefined = named ?? braced
    if (name === undefined || unknown !== undefined) return whole
    const found = lookup(name)
    if (found === undefined) unknown = name
    return found ?? whole
  })
  return unknown === undefined ? { kind: 'value', value: expanded } : { kind: 'unknown-option', name: unknown }
}

/** Escapes a text so that the service reads it literally: for passwords and URLs. */
export function escapeDollars(text: string): string {
  // After a backslash `$$` would be read as an escape and a single dollar sign, so the other spelling is used.
  return text.replace(/\\?\$/g, (dollar) => (dollar === '$' ? '$$' : '\\\\$'))
}

function plainDollars(value: string): string {
  return value.replaceAll('\\$', '$$$$')
}
