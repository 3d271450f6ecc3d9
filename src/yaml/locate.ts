/** Where a value stands in the text that it was read from. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml'
import type { FileLocation } from '../errors/finding.ts'

/** A place inside a value: `['spec', 'clouds', 0, 'namespace']`. */
export type ValuePath = readonly (string | number)[]

export interface Locator {
  /** The value at the path, or the nearest thing around it that is written. */
  readonly locate: (path: ValuePath) => FileLocation
  /** The key of the path's last step; the value where the step is an index. */
  readonly locateKey: (path: ValuePath) => FileLocation
}

type Keys = ReadonlyMap<string, Pair<Node, Node | null>>

export function createLocator(document: Document.Parsed, placeAt: (offset: number) => FileLocation): Locator {
  // Thousands of hosts may be asked for one by one, so the keys of a mapping are looked through once.
  const keysOf = new WeakMap<YAMLMap, Keys>()

  const keys = (map: YAMLMap): Keys => {
    const known = keysOf.get(map)
    if (known) return known
    const made = new Map<string, Pair<Node, Node | null>>()
    for (const item of map.items as Pair<Node, Node | null>[]) {
      if (isScalar(item.key)) made.set(isMergeKey(item.key.value) ? '<<' : String(item.key.value), item)
    }
    keysOf.set(map, made)
    return made
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

  const find = (path: ValuePath): { readonly at: number; readonly keyAt: number } => {
    let at = startOf(document.contents) ?? 0
    let keyAt = at
    let node: Node | null | undefined = document.contents
    for (const step of path) {
      const found: ReturnType<typeof stepInto> = node ? stepInto(node, step) : undefined
      if (!found || (!found.key && !found.value)) break
      keyAt = startOf(found.key) ?? startOf(found.value) ?? at
      at = startOf(found.value) ?? keyAt
      node = found.value
    }
    return { at, keyAt }
  }

  return {
    locate: (path) => placeAt(find(path).at),
    locateKey: (path) => placeAt(find(path).keyAt),
  }
}

/** The reader marks a merge with a symbol, so that a quoted `'<<'` stays a word. */
export function isMergeKey(value: unknown): boolean {
  return typeof value === 'symbol' && value.description === '<<'
}

function startOf(node: Node | null | undefined): number | undefined {
  return node?.range?.[0]
}
