/**
 * Loads a snapshot from a folder of dumps, as `kubectl get -o yaml|json`, must-gather and GitOps trees leave them.
 *
 * Never fails on content: a broken document is reported and left out, other files are ignored.
 */

import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { CORE_SCHEMA, load, YAMLException } from 'js-yaml'
import { isRecord } from '../api/json.ts'
import { type GroupVersionKind, type KubeObject, objectIdentity } from '../api/object.ts'
import { formatGroupKind, type UnreadKind } from '../api/snapshot.ts'
import { inputTooLarge, unreadableFile } from '../errors/common.ts'
import { failure, formatError, formatSystemError } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { readLimited } from '../files/read-limited.ts'
import { findExpansion } from '../yaml/expanded-size.ts'
import { unreadableDump, unreadKind } from './findings/api-server.ts'
import { formatSubject } from './paths.ts'
import type { SnapshotResult } from './snapshot.ts'

/** A must-gather of hundreds of nodes is a tenth of it; a device such as /dev/zero has no end. */
const MIB = 1024 ** 2
const FILE_LIMIT_MIB = 256
const TOTAL_LIMIT_MIB = 1024

/** Reads a file, or a folder with its subfolders. Without kinds: everything that looks like an object. */
export async function loadDump(
  where: string,
  kinds?: readonly GroupVersionKind[],
  signal?: AbortSignal,
): Promise<SnapshotResult> {
  const requested = kinds && new Set(kinds.map(formatGroupKind))
  const objects = new Map<string, KubeObject>()
  const seen = new Set<string>()
  const findings: Finding[] = []
  let readBytes = 0
  for (const file of await dumpFiles(where)) {
    signal?.throwIfAborted()
    const { documents, broken, bytes } = await readDump(file)
    readBytes += bytes
    if (readBytes > TOTAL_LIMIT_MIB * MIB) throw failure(inputTooLarge, { file: where, limitMiB: TOTAL_LIMIT_MIB })
    for (const brokenDocument of broken) findings.push(brokenFinding(file, brokenDocument))
    for (const document of documents) {
      for (const { object, of } of findObjects(document)) {
        seen.add(of)
        // The same object in two files: the later path wins, so that the result does not depend on the disk.
        if (object && (!requested || requested.has(of))) objects.set(objectIdentity(object), object)
      }
    }
  }
  const unread = (kinds ?? [])
    .filter((kind) => !seen.has(formatGroupKind(kind)))
    .map((kind) => notDumpedKind(kind, where))
  return {
    snapshot: { objects: [...objects.values()], unread },
    findings: [
      ...findings,
      ...unread.map((gap) => finding(unreadKind, { kind: formatSubject(gap), reason: gap.reason, dumped: true })),
    ],
  }
}

async function dumpFiles(where: string): Promise<readonly string[]> {
  try {
    if (!(await stat(where)).isDirectory()) return [where]
    const entries = await readdir(where, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile() && /\.(ya?ml|json)$/i.test(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort()
  } catch (thrown) {
    throw failure(unreadableFile, { file: where, reason: formatSystemError(thrown) }, { cause: thrown })
  }
}

async function readDump(file: string): Promise<ParsedDocuments & { readonly bytes: number }> {
  const skip = (reason: string) => ({ documents: [], broken: [{ reason, line: 1, column: 1 }], bytes: 0 })
  try {
    const content = await readLimited(file, FILE_LIMIT_MIB * MIB)
    if (!content) return skip(`it has more than ${FILE_LIMIT_MIB} MiB`)
    return { ...parseDocuments(content), bytes: content.length }
  } catch (thrown) {
    return skip(formatSystemError(thrown) || formatError(thrown))
  }
}

function brokenFinding(file: string, { reason, line, column }: BrokenDocument): Finding {
  return finding(unreadableDump, { file, reason }, { where: { file, line, column } })
}

/** An object with its group and kind; an empty list mentions a kind without an object. */
interface Mention {
  readonly of: string
  readonly object?: KubeObject
}

function findObjects(value: unknown): readonly Mention[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => findObjects(item))
  if (!isRecord(value)) return []
  const { apiVersion, kind, items, metadata } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return []
  if (kind.endsWith('List') && (Array.isArray(items) || items === null)) {
    const ofItems = { apiVersion, kind: kind.slice(0, -'List'.length) }
    // `v1 List` holds objects of any kind; the items of every other list may omit their kind.
    const known = ofItems.kind === '' ? {} : ofItems
    const inside = ((items ?? []) as readonly unknown[]).flatMap((item) =>
      findObjects(isRecord(item) ? { ...known, ...item } : item),
    )
    return ofItems.kind === '' ? inside : [{ of: formatGroupKind(ofItems) }, ...inside]
  }
  if (!isRecord(metadata) || typeof metadata['name'] !== 'string') return []
  return [{ of: formatGroupKind({ apiVersion, kind }), object: value as unknown as KubeObject }]
}

function notDumpedKind({ apiVersion, kind }: GroupVersionKind, where: string): UnreadKind {
  const reason = `${where} does not mention it: it was not dumped, or there was none`
  return { apiVersion, kind, reason, cause: 'not-dumped' }
}

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
  const { documents, broken } = /^\s*[{[]/.test(text) ? jsonDocuments(text) : yamlDocuments(text)
  const reasons = documents.map((document) => findExpansion(document, text.length))
  const unusable = reasons.flatMap((reason) => (reason === undefined ? [] : [{ reason, line: 1, column: 1 }]))
  return { documents: documents.filter((_, index) => reasons[index] === undefined), broken: [...broken, ...unusable] }
}

/** PowerShell's `>` writes UTF-16 with a byte order mark; other tools write UTF-8. */
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
    // Text that starts like JSON may be YAML in flow style, or a stream of several documents.
    const yaml = yamlDocuments(text)
    if (yaml.broken.length === 0) return yaml
    return {
      documents: [],
      broken: [{ reason: `not JSON: ${jsonReason(thrown)}`, ...jsonPlace(thrown, text) }],
    }
  }
}

/** One object per line, as `kubectl get --watch -o json` with jq -c writes it. */
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

/** V8 quotes the text around the error, which may be a secret: only the first words are kept. */
function jsonReason(thrown: unknown): string {
  const [summary = ''] = /^(Unexpected [a-z ]+|[A-Z][a-z ]+)/.exec(formatError(thrown)) ?? []
  return summary.trim() || 'it is cut or damaged'
}

function jsonPlace(thrown: unknown, text: string): { readonly line: number; readonly column: number } {
  const position = /position (\d+)/.exec(formatError(thrown))?.[1]
  const before = text.slice(0, position === undefined ? text.length : Number(position)).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

/** Document by document, so that the others survive a broken one. */
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
      // A truncated document is reported on the line after the last one.
      const line = Math.min(thrown.mark.line, source.split('\n').length - 1)
      broken.push({ reason: `not YAML: ${thrown.reason}`, line: firstLine + line, column: column + 1 })
    }
  }
  return { documents, broken }
}

/** A `---` in the first column always starts a document, even inside text. */
function splitDocuments(text: string): readonly { readonly source: string; readonly firstLine: number }[] {
  // Directives (`%YAML 1.1`) are before the first marker and belong to its document.
  const marks = [...text.matchAll(/^---(?=\s|$)/gm)].map((match) => match.index)
  const starts = [0, ...marks.slice(text.startsWith('%') ? 1 : 0).filter((index) => index > 0)]
  let line = 1
  return starts.map((start, index) => {
    const source = text.slice(start, starts[index + 1])
    const firstLine = line
    for (let index = source.indexOf('\n'); index >= 0; index = source.indexOf('\n', index + 1)) line += 1
    return { source, firstLine }
  })
}
