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
export type Sources = Readonly<Record<string, { readonly bytes: number; readonly imports: readonly Import[] }>>

/** A chunk takes as long to find, open and link as this much source to parse: about 0.7 ms. */
const CHUNK_BYTES = 24_000

/**
 * For each part that is loaded on demand: files that it does not import but may load at little or no cost, because they
 * are loaded before it in every case, belong to a group of small files of which it needs one, or are so small that other
 * parts save more by finding them in one chunk with files that it needs.
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
  const parts = [...needed.keys()].filter((part) => part !== entry)
  // The entry waits for its command: a part that imported it would wait for itself.
  const loaded = new Map(
    parts.map((part) => [part, withoutEntry([...(reached.get(part) ?? []), ...(before.get(part) ?? [])], entry)]),
  )
  for (const { files, parts } of mergeChunks(sources, loaded)) {
    for (const part of parts) for (const file of files) loaded.get(part)?.add(file)
  }
  const extra = (part: string): readonly string[] =>
    [...(loaded.get(part) ?? [])].filter((file) => !needed.get(part)?.has(file))
  return new Map(parts.map((part) => [part, extra(part)]))
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

function withoutEntry(files: readonly string[], entry: string): Set<string> {
  return new Set(files.filter((file) => file !== entry))
}

/** Files with the parts that load them. */
interface Chunk {
  readonly files: readonly string[]
  readonly parts: ReadonlySet<string>
  readonly bytes: number
}

/** Merges chunks, the smallest first, while the parts that load both save more than the others lose. */
function mergeChunks(sources: Sources, loaded: ReadonlyMap<string, ReadonlySet<string>>): readonly Chunk[] {
  // A part stays alone: it is loaded when it is used.
  const open = listChunks(sources, loaded).filter(({ files }) => !files.some((file) => loaded.has(file)))
  const merged: Chunk[] = []
  for (let chunk = takeSmallest(open); chunk; chunk = takeSmallest(open)) {
    const current = chunk
    let best: { readonly chunk: Chunk; readonly gain: number } | undefined
    for (const other of open) {
      const gain = mergeGain(current, other)
      if (gain > (best?.gain ?? 0) && isComplete(sources, loaded, current, other)) best = { chunk: other, gain }
    }
    if (!best) {
      merged.push(current)
      continue
    }
    open.splice(open.indexOf(best.chunk), 1, joinChunks(current, best.chunk))
  }
  return merged
}

/** The files that the same parts load: the bundler puts them into one chunk. */
function listChunks(sources: Sources, loaded: ReadonlyMap<string, ReadonlySet<string>>): Chunk[] {
  const partsByFile = new Map<string, string[]>()
  for (const [part, files] of loaded) {
    for (const file of files) partsByFile.set(file, [...(partsByFile.get(file) ?? []), part])
  }
  const filesByParts = new Map<string, { readonly files: string[]; readonly parts: readonly string[] }>()
  for (const [file, parts] of partsByFile) {
    const chunk = filesByParts.get(parts.join(' '))
    if (chunk) chunk.files.push(file)
    else filesByParts.set(parts.join(' '), { files: [file], parts })
  }
  return [...filesByParts.values()].map(({ files, parts }) => ({
    files,
    parts: new Set(parts),
    bytes: files.reduce((total, file) => total + (sources[file]?.bytes ?? 0), 0),
  }))
}

function takeSmallest(chunks: Chunk[]): Chunk | undefined {
  if (chunks.length === 0) return undefined
  const smallest = chunks.reduce((a, b) => (b.bytes < a.bytes ? b : a))
  return chunks.splice(chunks.indexOf(smallest), 1)[0]
}

/** In bytes of source. No part gets more that it does not need than a chunk costs, whatever the others save. */
function mergeGain(a: Chunk, b: Chunk): number {
  let both = 0
  for (const part of a.parts) if (b.parts.has(part)) both += 1
  const mostAdded = Math.max(both < b.parts.size ? a.bytes : 0, both < a.parts.size ? b.bytes : 0)
  if (mostAdded > CHUNK_BYTES) return 0
  return both * CHUNK_BYTES - (b.parts.size - both) * a.bytes - (a.parts.size - both) * b.bytes
}

/** Whether the parts that load only one of both have all that the other one imports. */
function isComplete(sources: Sources, loaded: ReadonlyMap<string, ReadonlySet<string>>, a: Chunk, b: Chunk): boolean {
  const inside = new Set([...a.files, ...b.files])
  const hasImports = ({ files }: Chunk, parts: ReadonlySet<string>, known: ReadonlySet<string>): boolean => {
    const others = [...parts].filter((part) => !known.has(part))
    if (others.length === 0) return true
    const outside = [...staticImports(sources, files)].filter((file) => !inside.has(file))
    return others.every((part) => outside.every((file) => loaded.get(part)?.has(file)))
  }
  return hasImports(a, b.parts, a.parts) && hasImports(b, a.parts, b.parts)
}

function joinChunks(a: Chunk, b: Chunk): Chunk {
  return { files: [...a.files, ...b.files], parts: new Set([...a.parts, ...b.parts]), bytes: a.bytes + b.bytes }
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
