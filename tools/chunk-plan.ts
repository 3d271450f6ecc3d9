/**
 * Decides which files each part of the program should share a chunk with, so that a command loads few chunks. Pure.
 *
 * The bundler makes a chunk of the files that the same parts reach. It does not know that a part loaded on demand comes
 * after the part that demands it, so it spreads what they share over many chunks, and each chunk costs a command time.
 */

interface Import {
  readonly path: string
  readonly kind: string
}

/** Source files with their imports, as the bundler's metafile lists them. */
export type Sources = Readonly<Record<string, { readonly imports: readonly Import[] }>>

/**
 * For each part that is loaded on demand: files that it does not import but may load at no cost, because they are loaded
 * before it in every case or belong to a group of small files of which it needs one.
 */
export function chunkPlan(
  sources: Sources,
  entry: string,
  groups: readonly (readonly string[])[],
): ReadonlyMap<string, readonly string[]> {
  const needed = new Map(
    [entry, ...dynamicImports(sources, Object.keys(sources))].map((part) => [part, staticImports(sources, [part])]),
  )
  const members = groups.map((group) => group.flatMap((prefix) => filesWithPrefix(sources, prefix)))
  const reached = new Map([...needed].map(([part, files]) => [part, addGroups(sources, files, members)]))
  const before = loadedBefore(sources, entry, reached)
  const free = (part: string): readonly string[] =>
    [...(reached.get(part) ?? []), ...(before.get(part) ?? [])].filter(
      // The entry waits for its command: a part that imported it would wait for itself.
      (file) => file !== entry && !needed.get(part)?.has(file),
    )
  return new Map([...needed.keys()].filter((part) => part !== entry).map((part) => [part, free(part)]))
}

/** A prefix without files is left from a rename: the group would silently fall apart. */
function filesWithPrefix(sources: Sources, prefix: string): readonly string[] {
  const files = Object.keys(sources).filter((file) => file.startsWith(prefix))
  if (files.length === 0) throw new Error(`a chunk group names ${prefix}, which the program does not contain`)
  return files
}

/** Adds every group of which a file is there, with what its files import, which may belong to another group. */
function addGroups(
  sources: Sources,
  files: ReadonlySet<string>,
  groups: readonly (readonly string[])[],
): ReadonlySet<string> {
  const added = groups
    .filter((group) => group.some((file) => files.has(file)))
    .flat()
    .filter((file) => !files.has(file))
  return added.length === 0 ? files : addGroups(sources, staticImports(sources, [...files, ...added]), groups)
}

/** For each part, the files that are loaded before it on every path from the entry. */
function loadedBefore(
  sources: Sources,
  entry: string,
  reached: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const before = new Map<string, ReadonlySet<string>>([[entry, new Set()]])
  const pending = [entry]
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    const files = reached.get(part) ?? new Set()
    const loaded = new Set([...(before.get(part) ?? []), ...files])
    for (const next of dynamicImports(sources, files)) {
      const previous = before.get(next)
      const common = previous ? new Set([...previous].filter((file) => loaded.has(file))) : loaded
      if (common.size === previous?.size) continue
      before.set(next, common)
      pending.push(next)
    }
  }
  return before
}

function dynamicImports(sources: Sources, files: Iterable<string>): ReadonlySet<string> {
  const imported = new Set<string>()
  for (const file of files) {
    for (const { path, kind } of sources[file]?.imports ?? [])
      if (kind === 'dynamic-import' && sources[path]) imported.add(path)
  }
  return imported
}

/** Files with everything that they import, directly or not, without `import()`. */
function staticImports(sources: Sources, files: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const pending = [...files]
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    for (const { path, kind } of sources[file]?.imports ?? [])
      if (kind !== 'dynamic-import' && sources[path]) pending.push(path)
  }
  return seen
}
