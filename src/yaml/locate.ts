/** Finds the position of a value in the text that it was parsed from. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml'
import type { FileLocation } from '../errors/finding.ts'

/** A path inside a value: `['spec', 'clouds', 0, 'namespace']`. */
export type ValuePath = readonly (string | number)[]

export interface Locator {
  /** The position of the value at the path, or of the closest parent that is written. */
  readonly locate: (path: ValuePath) => FileLocation
  /** The position of the last key of the path; of the value when the last step is an index. */
  readonly locateKey: (path: ValuePath) => FileLocation
}

type Keys = ReadonlyMap<string, Pair<Node, Node | null>>

export function createLocator(document: Document.Parsed, locationAt: (offset: number) => FileLocation): Locator {
  // Thousands of hosts may be located one by one, so the keys of a mapping are indexed once.
  const keysOf = new WeakMap<YAMLMap, Keys>()

  const keys = (map: YAMLMap): Keys => {
    const known = keysOf.get(map)
    if (known) return known
    const pairs = new Map<string, Pair<Node, Node | null>>()
    for (const item of map.items as Pair<Node, Node | null>[]) {
      if (isScalar(item.key)) pairs.set(isMergeKey(item.key.value) ? '<<' : String(item.key.value), item)
    }
    keysOf.set(map, pairs)
    return pairs
  }

  const stepInto = (node: Node, step: string | number): { key?: Node; value?: Node | null | undefined } | undefined => {
    const target = isAlias(node) ? node.resolve(document) : node
    if (isSeq(target)) return { value: target.items[Number(step)] as Node | undefined }
    if (!isMap(target)) return undefined
    const pair = keys(target).get(String(step))
    if (pair) return { key: pair.key, value: pair.value }
    const merged = keys(target).get('<<')?.value
    const sources = isSeq(merged) ? (merged.items as Node[]) : merged ? [merged] : []
    for (const source of sources) {
      const found = stepInto(source, step)
      if (found?.key) return found
    }
    return undefined
  }

  const findOffsets = (path: ValuePath): { readonly offset: number; readonly keyOffset: number } => {
    let offset = startOf(document.contents) ?? 0
    let keyOffset = offset
    let node: Node | null | undefined = document.contents
    for (const step of path) {
      const found: ReturnType<typeof stepInto> = node ? stepInto(node, step) : undefined
      if (!found || (!found.key && !found.value)) break
      keyOffset = startOf(found.key) ?? startOf(found.value) ?? offset
      offset = startOf(found.value) ?? keyOffset
      node = found.value
    }
    return { offset, keyOffset }
  }

  return {
    locate: (path) => locationAt(findOffsets(path).offset),
    locateKey: (path) => locationAt(findOffsets(path).keyOffset),
  }
}

/** The parser marks a merge with a symbol, so that a quoted `'<<'` stays a plain key. */
export function isMergeKey(value: unknown): boolean {
  return typeof value === 'symbol' && value.description === '<<'
}

function startOf(node: Node | null | undefined): number | undefined {
  return node?.range?.[0]
}
