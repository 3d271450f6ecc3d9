/** Writes reference pages from JSON Schemas, of files that users write and of CRDs: one table per mapping. */

export interface FileSchema {
  readonly title?: string
  readonly description?: string
  readonly type?: string
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, FileSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: FileSchema | boolean
  readonly items?: FileSchema
  readonly anyOf?: readonly FileSchema[]
  readonly definitions?: Readonly<Record<string, FileSchema>>
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxLength?: number
  readonly pattern?: string
}

/** `introduction` is the text below the title. */
export function filePage(schema: FileSchema, introduction: string): string {
  const named = Object.entries(schema.definitions ?? {})
  const sections = [
    ...listSections('', schema),
    ...named.flatMap(([name, definition]) => listSections(name, definition)),
  ]
  return `# ${schema.title} file\n\n${introduction}\n\n${sections.map((section) => formatSection(section)).join('\n')}`
}

export interface KindSchema {
  readonly kind: string
  readonly apiVersion: string
  readonly scope: string
  readonly schema: FileSchema
}

/** One section per kind; `metadata` is the same for all. */
export function crdPage(kinds: readonly KindSchema[], introduction: string): string {
  const sections = kinds.map(({ kind, apiVersion, scope, schema }) => {
    const { spec = {}, status = {} } = schema.properties ?? {}
    const tables = [...listSections('spec', spec), ...listSections('status', status)]
    const heading = `## ${kind}\n\n\`${apiVersion}\`, ${scope === 'Cluster' ? 'cluster-scoped' : 'namespaced'}\n`
    return [heading, ...tables.map((section) => formatSection(section, '###'))].join('\n')
  })
  return `# Kinds\n\n${introduction}\n\n${sections.join('\n')}`
}

interface Section {
  readonly name: string
  readonly schema: FileSchema
}

/** The mapping itself, then the mappings below it in the order of their fields. */
function listSections(name: string, schema: FileSchema): readonly Section[] {
  const fields = Object.entries(isNameMap(schema) ? {} : (schema.properties ?? {}))
  const section = fields.length > 0 ? [{ name, schema }] : []
  const children = [
    ...fields.map(([field, value]) => [name === '' ? field : `${name}.${field}`, value] as const),
    ...(schema.items ? [[`${name}[]`, schema.items] as const] : []),
    ...(typeof schema.additionalProperties === 'object' ? [[`${name}.*`, schema.additionalProperties] as const] : []),
    ...(schema.anyOf ?? []).map((alternative) => [name, alternative] as const),
  ]
  return [...section, ...children.flatMap(([child, value]) => listSections(child, value))]
}

/** A mapping with free keys; its properties are the known ones. */
function isNameMap({ additionalProperties, properties }: FileSchema): boolean {
  return typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0 && Boolean(properties)
}

function formatSection({ name, schema }: Section, level = '##'): string {
  const rows = Object.entries(schema.properties ?? {}).map(([field, value]) => {
    const isRequired = schema.required?.includes(field) ?? false
    const cells = [
      `\`${field}\`${isRequired ? ' (required)' : ''}`,
      formatType(value),
      formatDefault(value),
      describe(value),
    ]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  })
  const heading = name === '' ? 'Top level' : `\`${name}\``
  return `${level} ${heading}\n\n| field | type | default | purpose |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

function formatDefault(schema: FileSchema): string {
  return schema.default === undefined ? '' : code(schema.default)
}

function describe(schema: FileSchema): string {
  const { description = '', examples = [] } = schema
  const missing = examples.filter((example) => !description.includes(String(example)))
  // Names of networks are listed with the mapping that has them as keys.
  const shown = missing.length === examples.length ? examples.slice(0, 4) : []
  const known = isNameMap(schema) ? Object.keys(schema.properties ?? {}) : []
  return [
    escapeTags(description),
    ...(shown.length > 0 ? [`such as ${shown.map(code).join(', ')}`] : []),
    ...(known.length > 0 ? [`known: ${known.map(code).join(', ')}`] : []),
  ].join('; ')
}

/** Markdown takes `<name>` for a tag and shows nothing, except in code. */
function escapeTags(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '\\<') : part))
    .join('`')
}

function formatType(schema: FileSchema): string {
  const { $ref, anyOf, items, additionalProperties } = schema
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? ''
    return `[${name}](#${name})`
  }
  if (anyOf) return [...new Set(anyOf.map(formatType))].join(' or ')
  if (schema.const !== undefined) return code(schema.const)
  if (schema.enum) return schema.enum.map(code).join(', ')
  if (items)
    return `list${schema.maxItems === undefined ? '' : ` (at most ${schema.maxItems})`} of ${formatType(items)}`
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0)
    return `mapping to ${formatType(additionalProperties)}`
  return formatScalar(schema)
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  boolean: '`true`, `false`',
  object: 'mapping',
}

function formatScalar({ type = '', minimum, maximum, maxLength }: FileSchema): string {
  const name = `${typeNames[type] ?? type}${maxLength === undefined ? '' : `, at most ${maxLength} characters`}`
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`
  return minimum === undefined ? name : `${name} from ${minimum}`
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}
