/** Formats HCL like `terraform fmt`: two spaces of indentation, aligned equal signs. Pure. */

export type HclValue =
  | string
  | number
  | boolean
  | readonly HclValue[]
  | { readonly expression: string }
  | { readonly map: Readonly<Record<string, HclValue>> }

export interface HclBlock {
  readonly kind: string
  readonly labels?: readonly string[]
  readonly attributes?: Readonly<Record<string, HclValue>>
  readonly blocks?: readonly HclBlock[]
  /** Written on the line above the block. */
  readonly comment?: string
}

/** A reference such as `openstack_networking_network_v2.external.id`. */
export function ref(expression: string): HclValue {
  return { expression }
}

export function writeHcl(blocks: readonly HclBlock[]): string {
  return blocks.map((block) => formatBlock(block, '')).join('\n')
}

function formatBlock({ kind, labels = [], attributes = {}, blocks = [], comment }: HclBlock, indent: string): string {
  const head = [kind, ...labels.map(quote)].join(' ')
  const inner = `${indent}  `
  const assignments = formatAttributes(attributes, inner)
  const nested = blocks.map((block) => formatBlock(block, inner))
  const body = [...(assignments ? [assignments] : []), ...nested].join('\n')
  return `${comment ? `${indent}# ${comment}\n` : ''}${indent}${head} {\n${body}${indent}}\n`
}

function formatAttributes(values: Readonly<Record<string, HclValue>>, indent: string): string {
  const entries = Object.entries(values).map(([key, value]) => [key, formatValue(value, indent)] as const)
  // A multi-line value is aligned with no other attribute.
  const keyWidth = (index: number): number => {
    const entry = entries[index]
    if (!entry || entry[1].includes('\n')) return entry?.[0].length ?? 0
    let [from, to] = [index, index]
    while (from > 0 && !entries[from - 1]?.[1].includes('\n')) from -= 1
    while (to + 1 < entries.length && !entries[to + 1]?.[1].includes('\n')) to += 1
    return Math.max(...entries.slice(from, to + 1).map(([key]) => key.length))
  }
  return entries.map(([key, text], index) => `${indent}${key.padEnd(keyWidth(index))} = ${text}\n`).join('')
}

function formatValue(value: HclValue, indent: string): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return `[${value.map((element) => formatValue(element, indent)).join(', ')}]`
  if ('expression' in value) return value.expression
  const { map } = value as { readonly map: Readonly<Record<string, HclValue>> }
  return `{\n${formatAttributes(map, `${indent}  `)}${indent}}`
}

/** Quotes a path below the folder of the module. */
export function modulePath(file: string): HclValue {
  return { expression: `"\${path.module}/${quote(file).slice(1)}` }
}

/**
 * Escapes `${` and `%{`, which start a template, and control characters by number, because HCL has no `\b` and `\f`.
 * The replacement is a function: in a replacement text `$$` means one dollar sign.
 */
export function quote(text: string): string {
  const escaped = text
    .replaceAll(/[\p{Cc}"\\]/gu, (character) =>
      /["\\]/.test(character) ? `\\${character}` : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    .replaceAll(/[$%](?=\{)/g, (sign) => sign + sign)
  return `"${escaped}"`
}
