/**
 * Bytes of a dump as documents: UTF-8 or UTF-16, YAML streams or JSON, with every broken document named and the others kept.
 *
 * js-yaml and JSON.parse, because dumps are big: a control plane's CRD takes a parser with positions ten times as long.
 */
import { CORE_SCHEMA, load, YAMLException } from 'js-yaml'
import { formatError } from '../errors/failure.ts'

export interface BrokenDocument {
  readonly reason: string
  readonly line: number
  readonly column: number
}

export interface ParsedDocuments {
  readonly documents: readonly unknown[]
  readonly broken: readonly BrokenDocument[]
}

export function parseDocuments(bytes: Uint8Array): ParsedDocuments {
  const text = decode(bytes)
  if (text === undefined) {
    return { documents: [], broken: [{ reason: 'it is not UTF-8 text', line: 1, column: 1 }] }
  }
  return /^\s*[{[]/.test(text) ? jsonDocuments(text) : yamlDocuments(text)
}

/** PowerShell's `>` writes UTF-16 with a byte order mark; everybody else writes UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function jsonDocuments(text: string): ParsedDocuments {
  try {
    return { documents: [JSON.parse(text)], broken: [] }
  } catch (thrown) {
    const lines = jsonLines(text)
    if (lines) return lines
    // What starts like JSON may be YAML in flow style, or a stream of several documents.
    const yaml = yamlDocuments(text)
    if (yaml.broken.length === 0) return yaml
    return {
      documents: [],
      broken: [{ reason: `not JSON: ${jsonReason(thrown)}`, ...jsonPlace(thrown, text) }],
    }
  }
}

/** One object per line, as `kubectl get --watch -o json` with jq -c leaves it. */
function jsonLines(text: string): ParsedDocuments | undefined {
  const lines = text.split('\n')
  const first = lines.find((line) => line.trim() !== '')
  if (first === undefined || !parsesAsJson(first)) return undefined
  const documents: unknown[] = []
  const broken: BrokenDocument[] = []
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    try {
      documents.push(JSON.parse(line))
    } catch (thrown) {
      broken.push({ reason: `not JSON: ${jsonReason(thrown)}`, line: index + 1, column: 1 })
    }
  }
  return { documents, broken }
}

function parsesAsJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** V8 quotes the text around the mistake, which may be a secret: only the first words are kept. */
function jsonReason(thrown: unknown): string {
  const [words = ''] = /^(Unexpected [a-z ]+|[A-Z][a-z ]+)/.exec(formatError(thrown)) ?? []
  return words.trim() || 'it is cut or damaged'
}

function jsonPlace(thrown: unknown, text: string): { readonly line: number; readonly column: number } {
  const position = /position (\d+)/.exec(formatError(thrown))?.[1]
  const before = text.slice(0, position === undefined ? text.length : Number(position)).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

/** Document by document, so that a broken one does not take the others with it. */
function yamlDocuments(text: string): ParsedDocuments {
  const documents: unknown[] = []
  const broken: BrokenDocument[] = []
  for (const { source, firstLine } of splitDocuments(text)) {
    try {
      const value: unknown = load(source, { schema: CORE_SCHEMA, json: true })
      if (value !== undefined && value !== null) documents.push(value)
    } catch (thrown) {
      if (!(thrown instanceof YAMLException)) throw thrown
      const { column } = thrown.mark
      // A cut is reported on the line after the last one.
      const line = Math.min(thrown.mark.line, source.split('\n').length - 1)
      broken.push({ reason: `not YAML: ${thrown.reason}`, line: firstLine + line, column: column + 1 })
    }
  }
  return { documents, broken }
}

/** A `---` in the first column always starts a document, even where it looks like text. */
function splitDocuments(text: string): readonly { readonly source: string; readonly firstLine: number }[] {
  // Directives (`%YAML 1.1`) stand before the first marker and belong to its document.
  const marks = [...text.matchAll(/^---(?=\s|$)/gm)].map((match) => match.index)
  const starts = [0, ...marks.slice(text.startsWith('%') ? 1 : 0).filter((at) => at > 0)]
  let line = 1
  return starts.map((start, index) => {
    const source = text.slice(start, starts[index + 1])
    const firstLine = line
    for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) line += 1
    return { source, firstLine }
  })
}
