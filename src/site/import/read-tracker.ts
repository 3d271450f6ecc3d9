/**
 * Records which values of an input are read, so that an importer can report the others by their paths.
 *
 * Pure. Knows no format: the input is any JSON value.
 */
import type { Path } from '../site.ts'

export interface TrackedInput {
  /** The same value; reading a scalar from it is recorded. */
  readonly value: unknown
  readonly unread: () => readonly UnreadValues[]
}

/** Values that no reader asked for: the same names below each of the parents. */
export interface UnreadValues {
  readonly parents: readonly Path[]
  readonly names: readonly string[]
}

export function trackReads(input: unknown): TrackedInput {
  const readKeys = new Map<object, Set<string>>()
  const views = new WeakMap<object, object>()
  const view = (target: object): object => {
    const known = views.get(target)
    if (known) return known
    const created = new Proxy(target, {
      get(from, key, receiver) {
        const value: unknown = Reflect.get(from, key, receiver)
        if (typeof value === 'object' && value !== null) return view(value)
        if (typeof key === 'string' && Object.hasOwn(from, key)) {
          const keys = readKeys.get(from) ?? new Set()
          readKeys.set(from, keys.add(key))
        }
        return value
      },
    })
    views.set(target, created)
    return created
  }
  const isRead = (target: object, key: string): boolean => readKeys.get(target)?.has(key) === true
  return {
    value: typeof input === 'object' && input !== null ? view(input) : input,
    unread: () => groupParents(listUnread(input, [], isRead).paths),
  }
}

type IsRead = (target: object, key: string) => boolean

interface Below {
  /** Whether anything at or below was read. */
  readonly read: boolean
  readonly paths: readonly Path[]
}

/** The highest values of which nothing was read. */
function listUnread(value: unknown, path: Path, isRead: IsRead): Below {
  if (typeof value !== 'object' || value === null) return { read: false, paths: isEmpty(value) ? [] : [path] }
  const children = Object.entries(value).map(([key, child]): Below => {
    const childPath = [...path, Array.isArray(value) ? Number(key) : key]
    return isRead(value, key) ? { read: true, paths: [] } : listUnread(child, childPath, isRead)
  })
  const paths = children.flatMap((child) => child.paths)
  if (children.some(({ read }) => read)) return { read: true, paths }
  return { read: false, paths: paths.length > 0 && path.length > 0 ? [path] : paths }
}

/** A value that says nothing, and so is not lost. */
function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === false || value === ''
}

/** Thirteen nodes with the same unread fields are one statement. */
function groupParents(paths: readonly Path[]): readonly UnreadValues[] {
  const byParent = new Map<string, { readonly parent: Path; readonly names: string[] }>()
  for (const path of paths) {
    const parent = path.slice(0, -1)
    const key = JSON.stringify(parent)
    const group = byParent.get(key) ?? { parent, names: [] }
    group.names.push(String(path.at(-1)))
    byParent.set(key, group)
  }
  const byNames = new Map<string, { readonly parents: Path[]; readonly names: readonly string[] }>()
  for (const { parent, names } of byParent.values()) {
    const key = JSON.stringify([parent.slice(0, -1), names])
    const group = byNames.get(key) ?? { parents: [], names }
    group.parents.push(parent)
    byNames.set(key, group)
  }
  return [...byNames.values()]
}

/** `data.node_3, data.node_4: bgp_ip, routes`. */
export function formatUnread({ parents, names }: UnreadValues): string {
  if (parents.length === 1 && names.length === 1) return [...(parents[0] ?? []), names[0]].join('.')
  const places = parents.map((parent) => parent.join('.')).join(', ')
  return places === '' ? names.join(', ') : `${places}: ${names.join(', ')}`
}
