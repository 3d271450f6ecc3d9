/**
 * The volumes of a run as files: what a pod would see below its mount paths.
 *
 * Pure. Only Secrets and ConfigMaps can be given without a pod; for anything else `unusable` is told why.
 */
import path from 'node:path'
import type { AnsibleRunSpec } from '../kinds/ansible-run.ts'
import { type Content, type RunInputs, sourceKey, type VolumeSource, volumeSource } from './run-inputs.ts'

export type ReportUnusable = (what: string, reason: string) => void

type ExtraMount = NonNullable<AnsibleRunSpec['extraMounts']>[number]
type Entries = readonly (readonly [string, Buffer])[]

export function mountedFiles(spec: AnsibleRunSpec, materials: RunInputs, unusable: ReportUnusable): Entries {
  return (spec.extraMounts ?? []).flatMap(({ volumes, mounts }) =>
    mounts.flatMap((mount) => {
      const what = (reason: string): Entries => {
        unusable(`mount of ${mount.name}`, reason)
        return []
      }
      const volume = volumes.find((volume) => volume.name === mount.name)
      if (!volume) return what('there is no volume of this name')
      if (!isSafePath(mount)) return what('its path is not absolute, or leaves its folder')
      return mountEntries(volume, mount, materials, what)
    }),
  )
}

function isSafePath({ mountPath, subPath = '' }: ExtraMount['mounts'][number]): boolean {
  return mountPath.startsWith('/') && !escapesFolder(mountPath.slice(1)) && !escapesFolder(subPath)
}

/** Whether a relative path leads out of its folder. */
export function escapesFolder(file: string): boolean {
  return path.posix.isAbsolute(file) || file.split('/').includes('..')
}

function mountEntries(
  volume: ExtraMount['volumes'][number],
  { mountPath, subPath, subPathExpr }: ExtraMount['mounts'][number],
  { found }: RunInputs,
  refuse: (reason: string) => Entries,
): Entries {
  if ('emptyDir' in volume) return []
  const source = volumeSource(volume, mountPath)
  if (!source || subPathExpr) return refuse('only Secrets and ConfigMaps can be mounted without a pod')
  const content = source.oneOf.map((source) => found.get(sourceKey(source))).find((one) => one !== undefined)
  if (!content) return []
  const lacks = (key: string): Entries => refuse(`${source.oneOf.map(sourceKey).join(' or ')} has no key ${key}`)
  const missing = missingItem(content, source.from)
  if (missing !== undefined) return lacks(missing)
  const base = mountPath.slice(1)
  const inside = volumeFiles(content, source.from)
  if (subPath === undefined) return inside.map(([file, bytes]) => [path.posix.join(base, file), bytes])
  const chosen = inside.flatMap(([file, bytes]): Entries => {
    if (file === subPath) return [[base, bytes]]
    return file.startsWith(`${subPath}/`) ? [[path.posix.join(base, file.slice(subPath.length + 1)), bytes]] : []
  })
  return chosen.length > 0 || source.from.optional ? chosen : lacks(subPath)
}

function missingItem(content: Content, { items = [], optional = false }: VolumeSource): string | undefined {
  return optional ? undefined : items.find(({ key }) => !content.has(key))?.key
}

/** All keys under their own names, or the listed ones under the given paths. */
function volumeFiles(content: Content, { items }: VolumeSource): Entries {
  const all = items
    ? items.flatMap(({ key, path: file }): Entries => {
        const bytes = content.get(key)
        return bytes ? [[file, bytes]] : []
      })
    : [...content]
  return all.filter(([file]) => !escapesFolder(file))
}
