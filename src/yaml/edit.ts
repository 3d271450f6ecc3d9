/**
 * Edits single values of a hand-written text; comments, order and everything else stay.
 *
 * A scalar is replaced in place. Other changes go through the document, which keeps comments but may change white
 * space.
 */
import { type Document, isAlias, isMap, isScalar, parseDocument } from 'yaml'
import type { ValuePath } from './locate.ts'
import { writeYaml } from './write.ts'

export interface Edit {
  readonly path: ValuePath
  /** Undefined removes the field. */
  readonly value: unknown
}

/** The text must be valid: `readYaml` has no finding for it. */
export function editYaml(text: string, edits: readonly Edit[]): string {
  return edits.reduce(editOnce, text)
}

function editOnce(text: string, { path, value }: Edit): string {
  const document = parseDocument(text, { merge: true, logLevel: 'error' })
  const old = document.getIn(path, true)
  if (isScalar(old) && old.range && isScalarValue(value) && old.value !== null && !old.source?.includes('\n')) {
    const [start, end] = old.range
    return text.slice(0, start) + writeYaml(value).trimEnd() + text.slice(end)
  }
  if (value === undefined) document.deleteIn(path)
  else document.setIn(preparePath(document, path), document.createNode(value, { aliasDuplicateObjects: false }))
  return document.toString({ lineWidth: 0, flowCollectionPadding: false, indentSeq: indentsSequences(text) })
}

function isScalarValue(value: unknown): boolean {
  return (
    ['string', 'number', 'boolean'].includes(typeof value) && !(typeof value === 'string' && /[\n,[\]{}]/.test(value))
  )
}

/** `setIn` creates missing mappings, but fails on a key without a value. */
function preparePath(document: Document.Parsed, path: ValuePath): ValuePath {
  for (let depth = 1; depth < path.length; depth += 1) {
    const parent = path.slice(0, depth)
    const node = document.getIn(parent, true)
    if (isScalar(node) && node.value === null) document.setIn(parent, document.createNode({}))
    if (isAlias(node)) {
      // An edit must not change the other places that repeat the anchor.
      const target = node.resolve(document)
      if (isMap(target)) document.setIn(parent, target.clone())
    }
  }
  return path
}

function indentsSequences(text: string): boolean {
  return !/^( *)[^\s#-][^\n]*:\s*(?:#[^\n]*)?\n\1- /m.test(text)
}
