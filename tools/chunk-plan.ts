/**
 * Which files the parts of the program should share a chunk with, so that a command loads few of them. Pure.
 *
 * The bundler puts into one chunk what the same parts reach. It does not know that a part which is loaded on demand
 * comes after the one that demands it, so it spreads what they have in common over many chunks; and each costs a
 * command the time of a file. Here is what a part may reach for nothing: what is loaded before it anyway, whoever
 * demands it, and the rest of every company of small files of which it needs one.
 */

interface Import {
  readonly path: string
  readonly kind: string
}

/** Source files with their imports: the bundler's own account. */
export type Sources = Readonly<Record<string, { readonly imports: readonly Import[] }>>

/** For each part that is loaded on demand: files that it does not reach, and that cost nothing if it did. */
export function chunkPlan(
  sources: Sources,
  entry: string,
  companies: readonly RegExp[],
): ReadonlyMap<string, readonly string[]> {
  const needed = new Map(
    [entry, ...demandedBy(sources, Object.keys(sources))].map((part) => [part, reach(sources, [part])]),
  )
  const members = companies.map((company) => Object.keys(sources).filter((file) => company.test(file)))
  const reached = new Map([...needed].map(([part, files]) => [part, withCompanies(sources, files, members)]))
  const before = loadedBefore(sources, entry, reached)
  const free = (part: string): readonly string[] =>
    [...(reached.get(part) ?? []), ...(before.get(part) ?? [])].filter(
      // The entry waits for its command: whoever imported it would wait for himself.
      (file) => file !== entry && !needed.get(part)?.has(file),
    )
  return new Map([...needed.keys()].filter((part) => part !== entry).map((part) => [part, free(part)]))
}

/** What is there when every company comes as a whole, with what its files import: that may be of another company. */
function withCompanies(
  sources: Sources,
  files: ReadonlySet<string>,
  companies: readonly (readonly string[])[],
): ReadonlySet<string> {
  const joining = companies
    .filter((company) => company.some((file) => files.has(file)))
    .flat()
    .filter((file) => !files.has(file))
  return joining.length === 0 ? files : withCompanies(sources, reach(sources, [...files, ...joining]), companies)
}

/** For each part, what is there whichever way led to it: the entry's way begins with nothing. */
function loadedBefore(
  sources: Sources,
  entry: string,
  reached: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const before = new Map<string, ReadonlySet<string>>([[entry, new Set()]])
  const waiting = [entry]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const files = reached.get(part) ?? new Set()
    const there = new Set([...(before.get(part) ?? []), ...files])
    for (const next of demandedBy(sources, files)) {
      const old = before.get(next)
      const common = old ? new Set([...old].filter((file) => there.has(file))) : there
      if (common.size === old?.size) continue
      before.set(next, common)
      waiting.push(next)
    }
  }
  return before
}

function demandedBy(sources: Sources, files: Iterable<string>): ReadonlySet<string> {
  const demanded = new Set<string>()
  for (const file of files) {
    for (const { path, kind } of sources[file]?.imports ?? [])
      if (kind === 'dynamic-import' && sources[path]) demanded.add(path)
  }
  return demanded
}

/** Files with all that they import, as long as nobody calls `import()`. */
function reach(sources: Sources, files: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const waiting = [...files]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    for (const { path, kind } of sources[file]?.imports ?? [])
      if (kind !== 'dynamic-import' && sources[path]) waiting.push(path)
  }
  return seen
}
