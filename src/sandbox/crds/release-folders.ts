/**
 * Finds and reads the CRDs of a release: a folder with the files of `config/crd/bases` of openstack-operator and
 * infra-operator, as YAML or JSON. No pinned module has them.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { loadAll } from 'js-yaml'
import type { KubeObject } from '../../api/object.ts'
import { failure, formatError } from '../../errors/failure.ts'
import { crdFolderUnusable, releaseMissing } from '../findings.ts'
import type { SandboxPaths } from '../sandbox-context.ts'
import { type CrdSource, crdSets } from '../settings.ts'

/** The release that the pinned modules have. */
export const PINNED_RELEASE = '0.6.0'

/** The groups of openstack-operator and infra-operator: a release decides all of their kinds. */
const operatorGroups: ReadonlySet<string> = new Set(
  [
    'backup',
    'client',
    'core',
    'dataplane',
    'instanceha',
    'memcached',
    'network',
    'operator',
    'rabbitmq',
    'redis',
    'topology',
  ].map((name) => `${name}.openstack.org`),
)

/** The newest feature release that this machine has and that is newer than the pinned modules, or those. */
export async function newestRelease({ releases }: Pick<SandboxPaths, 'releases'>): Promise<string> {
  const names = await listReleases(releases)
  const newest = names.filter((name) => compareFeatureReleases(name, '18.0-fr1') > 0).sort(compareFeatureReleases)
  return newest.at(-1) ?? PINNED_RELEASE
}

async function listReleases(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}

/** A name that is no feature release, such as `main`, is before all others. */
function compareFeatureReleases(a: string, b: string): number {
  const [left, right] = [a, b].map((name) => /^(\d+)\.(\d+)-fr(\d+)$/.exec(name)?.slice(1).map(Number) ?? [])
  for (const index of [0, 1, 2]) {
    const difference = (left?.[index] ?? -1) - (right?.[index] ?? -1)
    if (difference !== 0) return difference
  }
  return 0
}

/** A folder gets its absolute path; a set or a release keeps its name and wins over a folder of this name. */
export async function locateCrds(
  source: string,
  cwd: string,
  { releases }: Pick<SandboxPaths, 'releases'>,
): Promise<CrdSource> {
  const sets: readonly string[] = [...crdSets, PINNED_RELEASE]
  if (sets.includes(source) || (await listReleases(releases)).includes(source)) return source
  const folder = path.resolve(cwd, source)
  const isFolder = await stat(folder).then(
    (entry) => entry.isDirectory(),
    () => false,
  )
  return isFolder || source.includes(path.sep) ? folder : source
}

/** `source` is the name of a release or the absolute path of a folder. */
export async function readReleaseFolder(
  source: string,
  { releases }: Pick<SandboxPaths, 'releases'>,
): Promise<readonly KubeObject[]> {
  if (path.isAbsolute(source)) return readCrdFolder(source)
  const known = await listReleases(releases)
  if (!known.includes(source)) throw failure(releaseMissing, { release: source, folder: releases, known })
  return readCrdFolder(path.join(releases, source))
}

async function readCrdFolder(folder: string): Promise<readonly KubeObject[]> {
  const refuse = (reason: string, cause?: unknown) => failure(crdFolderUnusable, { folder, reason }, { cause })
  const names = await readdir(folder).catch((error: unknown) => {
    throw refuse(formatError(error), error)
  })
  const crds: KubeObject[] = []
  for (const name of names.filter((name) => /\.(?:json|ya?ml)$/.test(name)).sort()) {
    const text = await readFile(path.join(folder, name), 'utf8')
    try {
      const documents = name.endsWith('.json') ? [JSON.parse(text) as unknown] : loadAll(text)
      crds.push(...(documents as readonly (KubeObject | null)[]).filter((document) => document !== null))
    } catch (error) {
      throw refuse(`${name}: ${formatError(error)}`, error)
    }
  }
  const found = crds.filter(({ kind }) => kind === 'CustomResourceDefinition').map(keepClientFields)
  if (found.length === 0) throw refuse('it contains no CustomResourceDefinition')
  return found
}

/** Keeps only the fields of a CRD that a client may set. */
export function keepClientFields(crd: KubeObject): KubeObject {
  const { status: _, metadata, ...rest } = crd
  const { name, labels, annotations } = metadata
  return { ...rest, metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) } } as KubeObject
}

/** The pinned CRDs with those of a release. A kind of the operators that the release does not have is removed. */
export function replaceOperatorCrds(
  pinned: readonly KubeObject[],
  release: readonly KubeObject[],
): readonly KubeObject[] {
  const names = new Set(release.map((crd) => crd.metadata.name))
  const isWhole = names.has('openstackcontrolplanes.core.openstack.org')
  const isReplaced = (crd: KubeObject): boolean =>
    names.has(crd.metadata.name) || (isWhole && operatorGroups.has(crdGroup(crd)))
  return [...pinned.filter((crd) => !isReplaced(crd)), ...release]
}

function crdGroup({ spec }: KubeObject): string {
  return (spec as { readonly group?: string } | undefined)?.group ?? ''
}
