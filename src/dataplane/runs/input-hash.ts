/**
 * Hashes the inputs of runs: equal for equal values, whatever the order of their keys. The content of Secrets and
 * ConfigMaps that a node's runs mount is an input too, so that a changed password reaches the hosts like a changed field.
 *
 * Pure.
 */
import { createHash } from 'node:crypto'
import type { KubeObject } from '../../api/object.ts'
import { requiredInputs, type Source, sourceKey } from '../execution/run-inputs.ts'
import type { RunnerSettings } from '../rules/inheritance.ts'

/** 64 bits tell sets of inputs apart, and are short enough for a name. */
const DIGITS = 16

export function hashInputs(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, DIGITS)
}

function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`
}

type MountSettings = Pick<RunnerSettings, 'extraMounts' | 'env'>

const NONE: readonly Source[] = []
/** Every view of a node asks for these: computed once per value. */
const knownSources = new WeakMap<MountSettings['extraMounts'], readonly Source[]>()
const knownHashes = new WeakMap<KubeObject, string>()

export function findMountedSources({ extraMounts, env }: MountSettings): readonly Source[] {
  if (extraMounts.length === 0 && env.length === 0) return NONE
  const known = knownSources.get(extraMounts)
  if (known) return known
  const sources = requiredInputs({ extraMounts: [...extraMounts], env: [...env] }).flatMap(({ oneOf }) => oneOf)
  knownSources.set(extraMounts, sources)
  return sources
}

/** Undefined where nothing is mounted. An absent source counts as empty; the run itself waits for it. */
export function hashMountedSources(
  runner: MountSettings,
  find: (source: Source) => KubeObject | undefined,
): string | undefined {
  const sources = findMountedSources(runner)
  if (sources.length === 0) return undefined
  const hashes = sources.map((source) => {
    const object = find(source)
    return [sourceKey(source), object ? hashContent(object) : ''] as const
  })
  return hashInputs(Object.fromEntries(hashes))
}

function hashContent(object: KubeObject): string {
  const known = knownHashes.get(object)
  if (known !== undefined) return known
  const hash = hashInputs([object['data'] ?? {}, object['binaryData'] ?? {}])
  knownHashes.set(object, hash)
  return hash
}
