/**
 * Parses hand-written YAML: the value, findings about the text, and the position of every value.
 *
 * Never throws for invalid text. Must not know the expected shape of the value.
 */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseAllDocuments,
  type YAMLError,
} from 'yaml'
import { duplicateKey, notYaml, tooLarge, unknownAlias } from '../errors/file.ts'
import { type FileLocation, type Finding, finding } from '../errors/finding.ts'
import { decodeText } from './decode.ts'
import { createLocator, isMergeKey, type Locator } from './locate.ts'

export interface YamlReading extends Locator {
  /** Plain JSON; undefined when the text is not YAML, null when it is empty. */
  readonly value: unknown
  readonly findings: readonly Finding[]
}

/** More errors add nothing. */
const MAX_ERRORS = 10

export interface YamlLimits {
  /** Characters after expanding aliases. A text without aliases may be longer. */
  readonly expandedLength?: number
  /** The parser visits the whole document for each alias. */
  readonly aliases?: number
  /** Words and signs of the text. Parsing takes about two microseconds for each, in which nothing else runs. */
  readonly tokens?: number
  /** Tags of texts, which are read without them; any other unknown tag is an error. */
  readonly textTags?: readonly string[]
}

/** Parses one document. A second one is an error, because it would be ignored. */
export function readYaml(input: string | Uint8Array, file: string, limits: YamlLimits = {}): YamlReading {
  const [first, second] = readYamlStream(input, file, limits)
  if (!first) return emptyReading(file)
  if (!second) return first
  const reason = 'a second document starts here, and one was expected'
  const tooMany = finding(notYaml, { reason }, { where: second.locate([]) })
  return { ...emptyReading(file, [...first.findings, tooMany]), value: undefined }
}

/** Parses every document of a stream, in order, without empty ones. */
export function readYamlStream(
  input: string | Uint8Array,
  file: string,
  limits: YamlLimits = {},
): readonly YamlReading[] {
  const { text, findings } = decodeText(input, file)
  if (findings.length > 0) return [{ ...emptyReading(file, findings), value: undefined }]
  if (limits.tokens !== undefined && hasMoreTokens(text, limits.tokens)) {
    const reason = `it has more than ${limits.tokens} words and signs`
    const large = finding(tooLarge, { reason }, { where: { file, line: 1, column: 1 } })
    return [{ ...emptyReading(file, [large]), value: undefined }]
  }
  const lines = new LineCounter()
  const locationAt = (offset: number): FileLocation => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(1, line), column: Math.max(1, col) }
  }
  try {
    return parse(text, lines, limits.textTags ?? [])
      .filter((document) => !isEmpty(document) || document.errors.length > 0)
      .map((document) => readDocument(document, text, locationAt, limits))
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown
    const where = { file, line: 1, column: 1 }
    const tooDeep = finding(tooLarge, { reason: 'it is nested too deeply' }, { where })
    return [{ ...emptyReading(file, [tooDeep]), value: undefined }]
  }
}

function parse(text: string, lineCounter: LineCounter, textTags: readonly string[]): readonly Document.Parsed[] {
  // Without `prettyErrors` messages contain no excerpts, and positions are offsets.
  const documents = parseAllDocuments(text, {
    lineCounter,
    merge: true,
    prettyErrors: false,
    logLevel: 'error',
    // The parser compares each key with all before it; `findDuplicateKeys` needs one pass.
    uniqueKeys: false,
    customTags: textTags.map((tag) => ({ tag, resolve: (value: string) => value })),
  })
  return 'empty' in documents ? [] : documents
}

function hasMoreTokens(text: string, limit: number): boolean {
  let count = 0
  for (const _ of new Lexer().lex(text)) {
    count += 1
    if (count > limit) return true
  }
  return false
}

/** No content, or only comments; a written `null` is content. */
function isEmpty({ contents }: Document.Parsed): boolean {
  return contents === null || (isScalar(contents) && contents.value === null && !contents.source)
}

function readDocument(
  document: Document.Parsed,
  text: string,
  locationAt: (offset: number) => FileLocation,
  limits: YamlLimits,
): YamlReading {
  const locator = createLocator(document, locationAt)
  // An error makes the parser misread what follows.
  const [error] = document.errors
  const syntax = (error ? [error] : document.warnings)
    .map((problem) => ({ offset: problem.pos[0], make: (where: FileLocation) => syntaxFinding(problem, where) }))
    .concat(
      findDuplicateKeys(document)
        .filter((offset) => !error || offset < error.pos[0])
        .map((offset) => ({
          offset,
          make: (where) => finding(duplicateKey, { key: wordAt(text, offset) }, { where }),
        })),
    )
    .toSorted((a, b) => a.offset - b.offset)
    .slice(0, MAX_ERRORS)
  const findings =
    syntax.length > 0
      ? syntax.map(({ offset, make }) => make(locationAt(offset)))
      : checkAliases(document, locationAt, {
          aliases: limits.aliases ?? Number.POSITIVE_INFINITY,
          expandedLength: Math.max(limits.expandedLength ?? MAX_EXPANDED_LENGTH, text.length),
        })
  if (findings.length > 0) return { ...locator, value: undefined, findings }
  return { ...locator, value: document.toJS({ maxAliasCount: -1 }) as unknown, findings }
}

/** The offsets of keys that their mapping has before. */
function findDuplicateKeys({ contents }: Document.Parsed): readonly number[] {
  const offsets: number[] = []
  const open: (Node | null | undefined)[] = [contents]
  for (let node = open.pop(); open.length > 0 || node; node = open.pop()) {
    if (isSeq(node)) for (const item of node.items as Node[]) open.push(item)
    if (!isMap(node)) continue
    const keys = new Set<unknown>()
    for (const { key, value } of node.items as { key: Node | null; value: Node | null }[]) {
      if (isScalar(key)) {
        if (keys.has(key.value)) offsets.push(key.range?.[0] ?? 0)
        keys.add(key.value)
      } else open.push(key)
      open.push(value)
    }
  }
  return offsets
}

function syntaxFinding(error: YAMLError, where: FileLocation): Finding {
  if (error.code === 'RESOURCE_EXHAUSTION') {
    return finding(tooLarge, { reason: 'it is nested too deeply' }, { where })
  }
  const reason = error.message.charAt(0).toLowerCase() + error.message.slice(1)
  return finding(notYaml, { reason }, { where })
}

function wordAt(text: string, offset: number): string {
  return /^[^\s:]*/.exec(text.slice(offset, offset + 80))?.[0] ?? ''
}

function emptyReading(file: string, findings: readonly Finding[] = []): YamlReading {
  const start = { file, line: 1, column: 1 }
  return { value: null, findings, locate: () => start, locateKey: () => start }
}

/** Maximum number of nodes after expanding aliases. */
const MAX_NODES = 1_000_000
/** Maximum number of characters after expanding aliases: one long text can be repeated a million times. */
const MAX_EXPANDED_LENGTH = 64 * 1024 * 1024
/** Deeper than any hand-written file, and far from a stack overflow. */
const MAX_DEPTH = 200

interface Size {
  readonly nodes: number
  readonly length: number
}

const NOTHING: Size = { nodes: 0, length: 0 }

function checkAliases(
  document: Document.Parsed,
  locationAt: (offset: number) => FileLocation,
  limits: Required<Pick<YamlLimits, 'aliases' | 'expandedLength'>>,
): readonly Finding[] {
  const findings: Finding[] = []
  const sizes = new Map<Node, Size>()
  const open = new Set<Node>()
  let aliases = 0
  // Filled in document order: an alias repeats the last anchor before it. `Alias.resolve` visits the whole document.
  const anchors = new Map<string, Node>()
  const noteAnchor = (node: Node): void => {
    if ('anchor' in node && typeof node.anchor === 'string') anchors.set(node.anchor, node)
  }
  const locate = (node: Node): { readonly where: FileLocation } => ({ where: locationAt(node.range?.[0] ?? 0) })
  const reject = (node: Node, reason: string): Size => {
    findings.push(finding(tooLarge, { reason }, locate(node)))
    return NOTHING
  }

  /** The size after expanding aliases. */
  const measure = (node: Node | null | undefined, depth: number): Size => {
    if (!node || findings.length > 0) return NOTHING
    const known = sizes.get(node)
    if (known !== undefined) return known
    if (depth > MAX_DEPTH) return reject(node, `it is nested more than ${MAX_DEPTH} levels deep`)
    open.add(node)
    noteAnchor(node)
    const inner = isAlias(node) ? measureAlias(node, depth) : measureChildren(node, depth)
    const size = { nodes: inner.nodes + 1, length: inner.length + (isScalar(node) ? textLength(node) : 0) }
    open.delete(node)
    sizes.set(node, size)
    if (findings.length > 0) return size
    if (size.nodes > MAX_NODES) return reject(node, `its aliases expand to more than ${MAX_NODES} values`)
    if (size.length > limits.expandedLength) {
      return reject(node, `its aliases expand to more than ${limits.expandedLength} characters`)
    }
    return size
  }

  const measureAlias = (node: Alias, depth: number): Size => {
    aliases += 1
    if (aliases > limits.aliases) return reject(node, `it has more than ${limits.aliases} aliases`)
    const target = anchors.get(node.source)
    if (!target) {
      findings.push(finding(unknownAlias, { alias: node.source }, locate(node)))
      return NOTHING
    }
    if (open.has(target)) return reject(node, 'an alias is inside the value that it repeats')
    return measure(target, depth + 1)
  }

  const measureChildren = (node: Node, depth: number): Size => {
    let nodes = 0
    let length = 0
    const add = (size: Size): void => {
      nodes += size.nodes
      length += size.length
    }
    if (isSeq(node)) for (const item of node.items as Node[]) add(measure(item, depth + 1))
    if (!isMap(node)) return { nodes, length }
    for (const { key, value } of node.items as { key: Node; value: Node | null }[]) {
      if (!isScalar(key)) {
        findings.push(finding(notYaml, { reason: 'a key must be a plain word' }, locate(key)))
        return NOTHING
      }
      if (isMergeKey(key.value) && value && !mergeable(value, anchors)) {
        findings.push(finding(notYaml, { reason: 'only mappings can be merged with <<' }, locate(value)))
        return NOTHING
      }
      noteAnchor(key)
      add({ nodes: 0, length: textLength(key) })
      add(measure(value, depth + 1))
    }
    return { nodes, length }
  }

  measure(document.contents, 0)
  return findings
}

function textLength({ source, value }: { readonly source?: string; readonly value: unknown }): number {
  return source?.length ?? (typeof value === 'string' ? value.length : 0)
}

function mergeable(node: Node, anchors: ReadonlyMap<string, Node>): boolean {
  const resolve = (node: Node): Node | undefined => (isAlias(node) ? anchors.get(node.source) : node)
  const target = resolve(node)
  // An alias without an anchor is reported separately.
  if (target === undefined || isMap(target)) return true
  return isSeq(target) && (target.items as Node[]).every((item) => isMap(resolve(item)))
}
