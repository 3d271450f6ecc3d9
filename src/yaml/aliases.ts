/**
 * Anchors and aliases are welcome; bombs, loops and aliases that lead nowhere are not.
 *
 * Looks at the parsed document before it becomes a value, because afterwards it may be too large to look at.
 */
import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node } from 'yaml'
import { notYaml, tooLarge, unknownAlias } from '../errors/file.ts'
import { type FileLocation, type Finding, finding } from '../errors/finding.ts'
import { isMergeKey } from './locate.ts'

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
