/**
 * Checks the shape of a file against a schema: every difference becomes a finding with its location.
 *
 * For the kinds that users write (Site, Lab). Must not know any of them.
 */
import type { ZodType } from 'zod'
import type { ZodMiniType } from 'zod/mini'
import type * as z from 'zod/v4/core'
import { closestMatch } from '../errors/closest-match.ts'
import {
  emptyFile,
  missingField,
  placeholdersInFile,
  reservedKey,
  unknownField,
  wrongType,
  wrongValue,
} from '../errors/file.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { ValuePath } from '../yaml/locate.ts'
import type { YamlReading } from '../yaml/read.ts'
import { findPlaceholders } from './placeholders.ts'
import { findReservedKeys, RESERVED } from './reserved-keys.ts'

export interface ShapeResult<T> {
  /** Absent when something is wrong. */
  readonly value?: T
  readonly findings: readonly Finding[]
}

type Issue = z.$ZodIssue

/** `wanted` describes the expected file: `a Site`. */
export function checkShape<T>(
  schema: ZodType<T> | ZodMiniType<T>,
  reading: YamlReading,
  wanted: string,
): ShapeResult<T> {
  const { value, findings, locate } = reading
  if (value === undefined) return { findings }
  if (value === null) return { findings: [finding(emptyFile, { wanted }, { where: locate([]) })] }
  const reserved = findReservedKeys(value).map((path) => {
    const facts = { key: RESERVED, parent: formatPath(path.slice(0, -1)) }
    return finding(reservedKey, facts, { where: reading.locateKey(path) })
  })
  if (reserved.length > 0) return { findings: [...findings, ...reserved] }
  const placeholders = findPlaceholders(value)
  const unfilled = placeholderFindings(placeholders, reading)
  // A file is read once: compiling a parser would take longer than parsing.
  const parsed = schema.safeParse(value, { jitless: true })
  if (parsed.success) {
    return unfilled.length > 0 ? { findings: [...findings, ...unfilled] } : { value: parsed.data, findings }
  }
  const misspelt = new Set<string>()
  const context: Context = { schema, reading, misspelt }
  const fieldFindings = parsed.error.issues.flatMap((issue) => issueFindings(issue, [], context))
  // A misspelt required field is one mistake, not two.
  const unfilledFields = new Set(placeholders.map(formatPath))
  const reported = fieldFindings.filter(
    ({ field, finding: { code } }) =>
      !unfilledFields.has(field) && (code !== missingField.code || !misspelt.has(field)),
  )
  return { findings: [...findings, ...unfilled, ...reported.map((slip) => slip.finding)] }
}

/** One finding for all of them: the file was not filled in. */
function placeholderFindings(paths: readonly ValuePath[], { locate }: YamlReading): readonly Finding[] {
  const [first] = paths
  if (!first) return []
  const places = paths.map((path) => `${formatPath(path)} (line ${locate(path).line})`)
  return [finding(placeholdersInFile, { places }, { where: locate(first) })]
}

interface Context {
  readonly schema: z.$ZodType
  readonly reading: YamlReading
  /** The known fields that are suggested for unknown ones. */
  readonly misspelt: Set<string>
}

interface FieldFinding {
  readonly field: string
  readonly finding: Finding
}

function issueFindings(issue: Issue, base: ValuePath, context: Context): readonly FieldFinding[] {
  const path: ValuePath = [...base, ...(issue.path as ValuePath)]
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknown(path, key, context))
  if (issue.code === 'invalid_union') {
    const inside = chosenAlternative(issue.errors)
    if (inside) return inside.flatMap(($ZodIssue) => issueFindings($ZodIssue, path, context))
  }
  const { reading } = context
  const found = getValue(reading.value, path)
  const expected = expectation(issue)
  if (found === undefined && path.length > 0) {
    const parent = path.slice(0, -1)
    const facts = { field: String(path.at(-1)), parent: formatPath(parent), expected }
    const where = reading.locate(parent)
    return [{ field: formatPath(path), finding: finding(missingField, facts, { where }) }]
  }
  const kind = isAboutType(issue) ? wrongType : wrongValue
  const isKey = issue.code === 'invalid_key'
  // A file that is one text is no file of ours: a path in a file from elsewhere may name one with secrets.
  const isWholeFile = path.length === 0 && typeof found === 'string'
  const described = isWholeFile ? 'a text' : describeValue(found)
  const facts = { field: formatPath(path), expected, found: isKey ? 'this key' : described }
  const where = isKey ? reading.locateKey(path) : reading.locate(path)
  return [{ field: formatPath(path), finding: finding(kind, facts, { where }) }]
}

function unknown(path: ValuePath, field: string, { schema, reading, misspelt }: Context): FieldFinding {
  const known = knownFields(schema, path)
  const suggestion = closestMatch(field, known)
  if (suggestion !== undefined) misspelt.add(formatPath([...path, suggestion]))
  const facts = { field, parent: formatPath(path), nearest: suggestion, known }
  const where = reading.locateKey([...path, field])
  return { field: formatPath([...path, field]), finding: finding(unknownField, facts, { where }) }
}

/** The alternative whose outermost type matches, if there is exactly one. */
function chosenAlternative(alternatives: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const suggestion = alternatives.filter((issues) =>
    issues.every((issue) => issue.path.length > 0 || issue.code === 'unrecognized_keys'),
  )
  return suggestion.length === 1 ? suggestion[0] : undefined
}

function isAboutType(issue: Issue): boolean {
  if (issue.code === 'invalid_union') return issue.errors.flat().some(isAboutType)
  return issue.code === 'invalid_type'
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
}

/** Describes what the schema expects. */
function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPE_WORDS[issue.expected] ?? issue.expected
    case 'invalid_value':
      return issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.join(', ')}`
    case 'too_small':
      if (issue.origin === 'string') return 'a text that is not empty'
      return issue.origin === 'array' ? 'a list that is not empty' : `at least ${issue.minimum}`
    case 'invalid_key':
      return issue.issues.map(expectation).join(' or ')
    case 'too_big':
      return `at most ${issue.maximum}`
    case 'invalid_union':
      return [...new Set(issue.errors.flat().map(expectation))].join(' or ')
    default:
      return issue.message.toLowerCase()
  }
}

function getValue(value: unknown, path: ValuePath): unknown {
  let here = value
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined
    here = (here as Record<string | number, unknown>)[step]
  }
  return here
}

function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (typeof value === 'string')
    return `the text ${JSON.stringify(value.length > 60 ? `${value.slice(0, 59)}…` : value)}`
  if (typeof value === 'number') return `the number ${value}`
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'a mapping'
  return JSON.stringify(value) ?? 'nothing'
}

/** `spec.clouds[0].name` */
function formatPath(path: ValuePath): string {
  if (path.length === 0) return 'the file'
  return path.reduce<string>((name, step) => {
    if (typeof step === 'number') return `${name}[${step}]`
    const plain = /^[\w-]+$/.test(step) ? step : JSON.stringify(step)
    return name === '' ? plain : `${name}.${plain}`
  }, '')
}

type Schema = z.$ZodType

interface Definition {
  readonly type: string
  readonly innerType?: Schema
  readonly element?: Schema
  readonly valueType?: Schema
  readonly options?: readonly Schema[]
  readonly shape?: Readonly<Record<string, Schema>>
}

function knownFields(schema: Schema, path: ValuePath): readonly string[] {
  const schemas = path.reduce<readonly Schema[]>(
    (schemas, step) => schemas.flatMap((schema) => stepInto(schema, step)),
    unwrap(schema),
  )
  return [...new Set(schemas.flatMap((schema) => Object.keys(definitionOf(schema).shape ?? {})))]
}

function stepInto(schema: Schema, step: string | number): readonly Schema[] {
  const { shape, element, valueType } = definitionOf(schema)
  const next = shape?.[step] ?? element ?? valueType
  return next ? unwrap(next) : []
}

/** Resolves optional fields and unions to the schemas behind them. */
function unwrap(schema: Schema): readonly Schema[] {
  const { innerType, options } = definitionOf(schema)
  if (innerType) return unwrap(innerType)
  return options ? options.flatMap(unwrap) : [schema]
}

function definitionOf(schema: Schema): Definition {
  return schema._zod.def as unknown as Definition
}
