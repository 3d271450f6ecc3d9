/**
 * Reads YAML that a person wrote: the value, what is wrong with the text, and where in it every value stands.
 *
 * Never throws for bad text. Knows nothing of what the value should look like.
 */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
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
  /** Plain JSON; undefined when the text is not YAML, null when there is nothing in it. */
  readonly value: unknown
  readonly findings: readonly Finding[]
}

/** More errors than this say nothing new: one unclosed bracket makes hundreds. */
const MOST_ERRORS = 10

/** One document. A second one in the same text is an error: half of what was written would be ignored. */
export function readYaml(input: string | Uint8Array, file: string): YamlReading {
  const [first, second] = readYamlStream(input, file)
  if (!first) return nothing(file)
  if (!second) return first
  const reason = 'a second document starts here, and one was expected'
  const tooMany = finding(notYaml, { reason }, { where: second.locate([]) })
  return { ...nothing(file, [...first.findings, tooMany]), value: undefined }
}

/** Every document of a stream, in order; empty ones are left out. */
export function readYamlStream(input: string | Uint8Array, file: string): readonly YamlReading[] {
  const { text, findings } = decodeText(input, file)
  if (findings.length > 0) return [{ ...nothing(file, findings), value: undefined }]
  const lines = new LineCounter()
  const placeAt = (offset: number): FileLocation => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(1, line), column: Math.max(1, col) }
  }
  try {
    return parse(text, lines)
      .filter((document) => !isEmpty(document) || document.errors.length > 0)
      .map((document) => readDocument(document, text, placeAt))
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown
    const where = { file, line: 1, column: 1 }
    const deep = finding(tooLarge, { reason: 'it is nested too deeply' }, { where })
    return [{ ...nothing(file, [deep]), value: undefined }]
  }
}

function parse(text: string, lineCounter: LineCounter): readonly Document.Parsed[] {
  // Without `prettyErrors` messages stay free of excerpts, and positions stay offsets.
  const documents = parseAllDocuments(text, {
    lineCounter,
    merge: true,
    prettyErrors: false,
    logLevel: 'error',
  })
  return 'empty' in documents ? [] : documents
}

/** Nothing at all, or comments only; a written `null` is something. */
function isEmpty({ contents }: Document.Parsed): boolean {
  return contents === null || (isScalar(contents) && contents.value === null && !contents.source)
}

function readDocument(document: Document.Parsed, text: string, placeAt: (offset: number) => FileLocation): YamlReading {
  const locator = createLocator(document, placeAt)
  const syntax = [...document.errors, ...document.warnings].slice(0, MOST_ERRORS)
  const findings =
    syntax.length > 0
      ? syntax.map((error) => syntaxFinding(error, text, placeAt(error.pos[0])))
      : checkAliases(document, placeAt)
  if (findings.length > 0) return { ...locator, value: undefined, findings }
  return { ...locator, value: document.toJS({ maxAliasCount: -1 }) as unknown, findings }
}

function syntaxFinding(error: YAMLError, text: string, where: FileLocation): Finding {
  if (error.code === 'DUPLICATE_KEY') return finding(duplicateKey, { key: wordAt(text, error.pos[0]) }, { where })
  if (error.code === 'RESOURCE_EXHAUSTION') {
    return finding(tooLarge, { reason: 'it is nested too deeply' }, { where })
  }
  const reason = error.message.charAt(0).toLowerCase() + error.message.slice(1)
  return finding(notYaml, { reason }, { where })
}

function wordAt(text: string, offset: number): string {
  return /^[^\s:]*/.exec(text.slice(offset, offset + 80))?.[0] ?? ''
}

function nothing(file: string, findings: readonly Finding[] = []): YamlReading {
  const start = { file, line: 1, column: 1 }
  return { value: null, findings, locate: () => start, locateKey: () => start }
}

/** Nodes that a document may stand for once its aliases are followed. */
const MOST_NODES = 1_000_000
/** Deeper than any file that a person wrote, and far from the end of the stack. */
const DEEPEST = 200

export function checkAliases(document: Document.Parsed, placeAt: (offset: number) => FileLocation): readonly Finding[] {
  const findings: Finding[] = []
  const sizes = new Map<Node, number>()
  const open = new Set<Node>()
  const at = (node: Node): { readonly where: FileLocation } => ({ where: placeAt(node.range?.[0] ?? 0) })
  const refuse = (node: Node, reason: string): number => {
    findings.push(finding(tooLarge, { reason }, at(node)))
    return 0
  }

  /** How many nodes this one stands for. */
  const sizeOf = (node: Node | null | undefined, depth: number): number => {
    if (!node || findings.length > 0) return 0
    const known = sizes.get(node)
    if (known !== undefined) return known
    if (depth > DEEPEST) return refuse(node, `it is nested more than ${DEEPEST} deep`)
    open.add(node)
    const size = 1 + (isAlias(node) ? sizeOfAlias(node, depth) : sizeOfChildren(node, depth))
    open.delete(node)
    sizes.set(node, size)
    if (size > MOST_NODES && findings.length === 0) {
      return refuse(node, `its aliases stand for more than ${MOST_NODES} values`)
    }
    return size
  }

  const sizeOfAlias = (node: Alias, depth: number): number => {
    const target = node.resolve(document)
    if (!target) {
      findings.push(finding(unknownAlias, { alias: node.source }, at(node)))
      return 0
    }
    if (open.has(target)) return refuse(node, 'an alias stands inside the value that it repeats')
    return sizeOf(target, depth + 1)
  }

  const sizeOfChildren = (node: Node, depth: number): number => {
    let size = 0
    if (isSeq(node)) for (const item of node.items as Node[]) size += sizeOf(item, depth + 1)
    if (!isMap(node)) return size
    for (const { key, value } of node.items as { key: Node; value: Node | null }[]) {
      if (!isScalar(key)) {
        findings.push(finding(notYaml, { reason: 'a key must be a plain word' }, at(key)))
        return 0
      }
      if (isMergeKey(key.value) && value && !mergeable(value, document)) {
        findings.push(finding(notYaml, { reason: 'what << merges must be a mapping' }, at(value)))
        return 0
      }
      size += sizeOf(value, depth + 1)
    }
    return size
  }

  sizeOf(document.contents, 0)
  return findings
}

function mergeable(node: Node, document: Document): boolean {
  const target = isAlias(node) ? node.resolve(document) : node
  // An alias without anchor has a finding of its own.
  if (target === undefined || isMap(target)) return true
  return isSeq(target) && (target.items as Node[]).every((item) => isMap(isAlias(item) ? item.resolve(document) : item))
}
