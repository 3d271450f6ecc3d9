/** Compares two releases field by field, and finds the known release of a cluster's CRDs. Pure. */
import { type KnownRelease, loadReleases, type Release } from './releases.ts'
import type { FieldGraph } from './schema-graph.ts'

export interface FieldDifferences {
  /** The outermost of each branch, below `spec`. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** In the second and not in the first, of fields that both have, and of fields that were added. */
  readonly required: readonly string[]
}

function compareSchemas(from: FieldGraph, to: FieldGraph): FieldDifferences {
  const added: string[] = []
  const removed: string[] = []
  const required: string[] = []
  const visit = (before: number, after: number, path: readonly string[]): void => {
    if (from.nodes === to.nodes && before === after) return
    const [old, now] = [from.nodes[before], to.nodes[after]]
    if (!old || !now) return
    const format = (name: string): string => [...path, name].join('.')
    for (const name of now.required ?? []) if (!old.required?.includes(name)) required.push(format(name))
    for (const name of new Set([...Object.keys(old.fields), ...Object.keys(now.fields)])) {
      const [oldChild, newChild] = [old.fields[name], now.fields[name]]
      if (oldChild === undefined) added.push(format(name))
      else if (newChild === undefined) removed.push(format(name))
      else visit(oldChild, newChild, [...path, name])
    }
  }
  visit(from.root, to.root, [])
  return { added: added.sort(), removed: removed.sort(), required: required.sort() }
}

export interface KindDifferences extends FieldDifferences {
  readonly kind: string
  readonly change: 'added' | 'removed' | 'changed'
}

/** The kinds that differ. A kind that one side does not have is added or removed as a whole. */
export function compareReleases(from: Release, to: Release): readonly KindDifferences[] {
  const kinds = [...new Set([...Object.keys(from.kinds), ...Object.keys(to.kinds)])]
  return kinds.flatMap((kind): readonly KindDifferences[] => {
    const [before, after] = [from.kinds[kind], to.kinds[kind]]
    const none = { added: [], removed: [], required: [] }
    if (!before) return [{ kind, change: 'added', ...none }]
    if (!after) return [{ kind, change: 'removed', ...none }]
    const fields = compareSchemas(before.spec, after.spec)
    const same = Object.values(fields).every((paths) => paths.length === 0)
    return same ? [] : [{ kind, change: 'changed', ...fields }]
  })
}

export interface ReleaseMatch {
  /** The release whose control plane CRD is the same, or the one with the fewest differences. */
  readonly release: KnownRelease
  readonly exact: boolean
  /** From the release to the CRDs, of the kinds that the CRDs have. */
  readonly differences: readonly KindDifferences[]
}

/**
 * Finds the release of CRDs. The control plane decides, because other programs may serve the other kinds: Stackloom's
 * operator has its own NetConfig. Undefined where the CRDs have no control plane.
 */
export function matchRelease(
  crds: Release,
  releases: readonly KnownRelease[] = loadReleases(),
): ReleaseMatch | undefined {
  const controlPlane = crds.kinds['OpenStackControlPlane']
  if (!controlPlane) return undefined
  const candidates = releases.flatMap((release) => {
    const known = release.kinds['OpenStackControlPlane']
    if (!known) return []
    const exact = known.crd === controlPlane.crd
    const equal = Object.entries(crds.kinds).filter(([kind, { crd }]) => release.kinds[kind]?.crd === crd).length
    const fields = exact ? { added: [], removed: [], required: [] } : compareSchemas(known.spec, controlPlane.spec)
    return [{ release, exact, equal, distance: fields.added.length + fields.removed.length + fields.required.length }]
  })
  // Of equal candidates the first wins: a feature release is before the branches that it is part of.
  const [best] = candidates.sort(
    (a, b) => Number(b.exact) - Number(a.exact) || a.distance - b.distance || b.equal - a.equal,
  )
  if (!best) return undefined
  const differences = compareReleases(best.release, crds).filter(({ kind }) => crds.kinds[kind])
  return { release: best.release, exact: best.exact, differences }
}
