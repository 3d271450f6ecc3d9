/**
 * The releases of the OpenStack operators that Stackloom knows: the fields of every rendered kind, from
 * `data/releases.json`, which `tools/generate-releases.ts` writes.
 */
import { readData } from '../../data/data.ts'
import { type FieldPath, hasField } from './fields.ts'
import { readCrd } from './read-crd.ts'
import { buildFieldGraph, type FieldGraph, type FieldNode } from './schema-graph.ts'

/** The kinds that are rendered, or that belong to them. */
export const releaseKinds = [
  'OpenStackControlPlane',
  'OpenStackVersion',
  'OpenStackDataPlaneNodeSet',
  'OpenStackDataPlaneDeployment',
  'OpenStackDataPlaneService',
  'NetConfig',
  'DNSMasq',
  'DNSData',
  'IPSet',
  'Reservation',
  'BGPConfiguration',
  'RabbitMq',
  'Topology',
  'OpenStackBackupConfig',
] as const

export interface KindSchema {
  readonly apiVersion: string
  /** `sha256:…` of the CRD's schema. */
  readonly crd: string
  readonly spec: FieldGraph
}

/** The CRDs of one release, or those of a file, a folder or a cluster. */
export interface Release {
  /** `18.0-fr6`; absent for CRDs that are no known release. */
  readonly name?: string
  readonly date?: string
  /** By kind. */
  readonly kinds: Readonly<Record<string, KindSchema>>
}

export interface KnownRelease extends Release {
  readonly name: string
}

/** The form of `data/releases.json`. */
export interface ReleaseData {
  readonly releases: readonly {
    readonly name: string
    readonly date?: string
    readonly kinds: Readonly<
      Record<string, { readonly apiVersion: string; readonly crd: string; readonly spec: number }>
    >
  }[]
  readonly nodes: readonly FieldNode[]
}

let loaded: readonly KnownRelease[] | undefined

/** Every known release, the oldest first. Parsed once: the file has a hundred kilobytes. */
export function loadReleases(): readonly KnownRelease[] {
  loaded ??= parseReleases(JSON.parse(readData('releases.json')) as ReleaseData)
  return loaded
}

export function parseReleases({ releases, nodes }: ReleaseData): readonly KnownRelease[] {
  return releases.map(({ kinds, ...release }) => ({
    ...release,
    kinds: Object.fromEntries(
      Object.entries(kinds).map(([kind, { spec, ...known }]) => [kind, { ...known, spec: { nodes, root: spec } }]),
    ),
  }))
}

/** The newest feature release: what a site targets that names none. */
export function defaultReleaseName(): string {
  const names = loadReleases().map(({ name }) => name)
  return names.findLast((name) => /^\d+\.\d+-fr\d+$/.test(name)) ?? names.at(-1) ?? ''
}

/** A release by its name; `today` is the default one. */
export function findRelease(name: string): KnownRelease | undefined {
  const wanted = name === 'today' ? defaultReleaseName() : name
  return loadReleases().find((release) => release.name === wanted)
}

/** CRDs as a release without a name. Kinds that are not rendered are ignored. */
export function readRelease(crds: readonly unknown[]): Release {
  const known: readonly string[] = releaseKinds
  const readings = crds.map(readCrd).filter((reading) => reading.result === 'read')
  return {
    kinds: Object.fromEntries(
      readings
        .filter(({ kind }) => known.includes(kind))
        .map(({ kind, apiVersion, crd, spec }) => [kind, { apiVersion, crd, spec: buildFieldGraph(spec) }]),
    ),
  }
}

/** The names of the releases that have a field of a kind, the oldest first. */
export function fieldHistory(kind: string, path: FieldPath): readonly string[] {
  return loadReleases()
    .filter(({ kinds }) => {
      const schema = kinds[kind]
      return schema !== undefined && hasField(schema.spec, path)
    })
    .map(({ name }) => name)
}

/** `18.0-fr4 to main`: every name where the releases are not consecutive. */
export function formatReleases(names: readonly string[]): string {
  if (names.length < 3) return names.join(' and ')
  const all = loadReleases().map(({ name }) => name)
  const first = all.indexOf(names[0] ?? '')
  const isRun = names.every((name, index) => all[first + index] === name)
  return isRun ? `${names[0]} to ${names.at(-1)}` : names.join(', ')
}
